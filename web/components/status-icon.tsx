import type { Tone } from "../ui/tone.ts";
import tones from "../ui/tone.module.css";
import { classNames } from "../util/class-names.ts";
import { lookOf } from "./execution-status.ts";
import styles from "./status-icon.module.css";

type Shape = {
  /** Filled with the tone. */
  readonly fill?: string;
  /** Drawn with the tone. */
  readonly line?: string;
  /** Drawn upon the filled part. */
  readonly mark?: string;
  readonly dashed?: boolean;
};

const DISC = "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1z";
const RING = "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2z";

/** Each has an outline or a mark that no other has, so that it is known without its colour. */
const SHAPES: Readonly<Record<Tone, Shape>> = {
  success: { fill: DISC, mark: "M5 8.3l2.1 2.1L11 6.2" },
  failed: { fill: "M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1z", mark: "M5.7 5.7l4.6 4.6M10.3 5.7l-4.6 4.6" },
  running: { line: "M8 2a6 6 0 0 1 6 6" },
  waiting: { line: `${RING}M8 4.75V8l2 1.5` },
  paused: { fill: DISC, mark: "M6.25 5.5v5M9.75 5.5v5" },
  aborted: {
    fill: "M3 1.5h10A1.5 1.5 0 0 1 14.5 3v10a1.5 1.5 0 0 1-1.5 1.5H3A1.5 1.5 0 0 1 1.5 13V3A1.5 1.5 0 0 1 3 1.5z",
    mark: "M5.25 8h5.5",
  },
  skipped: { line: `${RING}M4.2 11.8l7.6-7.6` },
  expired: { line: "M3.5 2h9M3.5 14h9M4.75 2v2.5L8 8l-3.25 3.5V14M11.25 2v2.5L8 8l3.25 3.5V14" },
  rejected: { fill: "M8 .8 15.2 8 8 15.2.8 8z", mark: "M6 6l4 4M10 6l-4 4" },
  ignored: { line: "M8 2l6.5 11.5h-13zM5.75 10l1.6 1.6 2.9-3.1" },
  queued: { line: RING, dashed: true },
  neutral: { line: "M8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z" },
};

type ToneIconProps = {
  readonly tone: Tone;
  readonly size?: number | undefined;
  /** Without it the text beside the icon says the same. */
  readonly label?: string | undefined;
};

export function ToneIcon({ tone, size = 16, label }: ToneIconProps) {
  const { fill, line, mark, dashed } = SHAPES[tone];
  const naming = label === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": label };
  return (
    <svg className={classNames(styles.icon, tones[tone])} width={size} height={size} viewBox="0 0 16 16" {...naming}>
      {label !== undefined && <title>{label}</title>}
      {tone === "running" && <path className={styles.track} d={RING} />}
      {fill !== undefined && <path className={styles.fill} d={fill} />}
      {line !== undefined && (
        <path
          className={classNames(styles.line, dashed === true && styles.dashed, tone === "running" && styles.turning)}
          d={line}
        />
      )}
      {mark !== undefined && <path className={styles.mark} d={mark} />}
    </svg>
  );
}

/** The status without its word; the word is its accessible name and its title. */
export function StatusIcon({ status, size }: { readonly status: string; readonly size?: number | undefined }) {
  const { tone, label } = lookOf(status);
  return <ToneIcon tone={tone} label={label} size={size} />;
}
