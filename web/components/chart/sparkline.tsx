import type { Tone } from "../../ui/tone.ts";
import tones from "../../ui/tone.module.css";
import { classNames } from "../../util/class-names.ts";
import styles from "./sparkline.module.css";

export type SparklineBar = {
  readonly key: string;
  readonly value: number;
  readonly tone: Tone;
  readonly title: string;
};

type SparklineProps = {
  /** The accessible text, which says what the bars say: Last 10 runs: 8 succeeded, 2 failed */
  readonly label: string;
  /** The oldest first. */
  readonly bars: readonly SparklineBar[];
  /** Places for bars, so that short histories keep the width of long ones. */
  readonly places?: number | undefined;
};

const WIDTH = 6;
const STEP = 8;
const HEIGHT = 24;
const LEAST = 3;

/** A bar for each run: its height is the duration, its colour the result. Plain SVG, because a list has dozens. */
export function Sparkline({ label, bars, places = 10 }: SparklineProps) {
  const shown = bars.slice(-places);
  const most = Math.max(1, ...shown.map(({ value }) => value));
  const offset = places - shown.length;
  return (
    <svg className={styles.sparkline} width={places * STEP} height={HEIGHT} role="img" aria-label={label}>
      {shown.map(({ key, value, tone, title }, index) => {
        const height = Math.max(LEAST, Math.round((value / most) * HEIGHT));
        const x = (offset + index) * STEP;
        return (
          <g key={key} className={classNames(styles.bar, tones[tone])}>
            <title>{title}</title>
            {/* Covers the whole column, so that low bars can be pointed at. */}
            <rect className={styles.target} x={x} y={0} width={STEP} height={HEIGHT} />
            <rect x={x} y={HEIGHT - height} width={WIDTH} height={height} rx={1} />
            {/* Failed runs have a notch: their colour does not stand alone. */}
            {tone === "failed" && <rect className={styles.notch} x={x} y={HEIGHT - 2} width={WIDTH} height={1} />}
          </g>
        );
      })}
    </svg>
  );
}
