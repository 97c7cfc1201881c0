import { memo, useMemo } from "react";
import { IconButton } from "../../ui/button.tsx";
import { classNames } from "../../util/class-names.ts";
import { formatBytes } from "../../util/bytes.ts";
import { formatExactTime } from "../../util/time.ts";
import { visibleText } from "../../util/visible-text.ts";
import { parseAnsi, type TextStyle } from "./lines/ansi.ts";
import type { LogLine } from "./lines/log-answers.ts";
import { markHits } from "./lines/mark-hits.ts";
import styles from "./log-viewer.module.css";

export type LogLineProps = {
  readonly number: number;
  /** Undefined while it is being loaded. */
  readonly line: LogLine | undefined;
  readonly query: string;
  readonly isSelected: boolean;
  readonly isCurrentHit: boolean;
  readonly showsTime: boolean;
  /** Whether the group that it begins is open; undefined if it begins none. */
  readonly isOpen: boolean | undefined;
  readonly onToggle: (number: number) => void;
  readonly downloadUrl: (offset: number, bytes: number) => string;
};

export const LogLineRow = memo(function LogLineRow(props: LogLineProps) {
  const { number, line, query, isSelected, isCurrentHit, showsTime, isOpen, onToggle, downloadUrl } = props;
  return (
    <div
      className={classNames(
        styles.line,
        isSelected && styles.selected,
        isCurrentHit && styles.current,
        isOpen !== undefined && styles.header,
      )}
      data-line={number}
    >
      {/* Not in the order of the keyboard: there would be a stop for each line. The field of lines does the same. */}
      <a className={styles.number} href={`#L${number}`} tabIndex={-1} data-number={number}>
        {number}
      </a>
      <span className={styles.fold}>
        {isOpen !== undefined && (
          <IconButton
            className={styles.toggle}
            icon={isOpen ? "chevron-down" : "chevron-right"}
            // The menu of groups does the same by keyboard.
            tabIndex={-1}
            label={isOpen ? `Close the group of line ${number}` : `Open the group of line ${number}`}
            aria-expanded={isOpen}
            onClick={() => onToggle(number)}
          />
        )}
      </span>
      {showsTime && <LineTime time={line?.time ?? null} />}
      <bdi className={styles.text}>{line !== undefined && <LineText text={line.text} query={query} />}</bdi>
      {line?.cut && (
        <a className={styles.cut} href={downloadUrl(line.cut.offset, line.cut.bytes)} tabIndex={-1}>
          Download all {formatBytes(line.cut.bytes)} of this line
        </a>
      )}
    </div>
  );
});

function LineTime({ time }: { readonly time: string | null }) {
  if (time === null) return <span className={styles.time} />;
  const at = new Date(time);
  return (
    <time className={styles.time} dateTime={time} title={formatExactTime(at.valueOf())}>
      {CLOCK.format(at)}
    </time>
  );
}

const CLOCK = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle: "h23",
});

function LineText({ text, query }: { readonly text: string; readonly query: string }) {
  const pieces = useMemo(() => parseAnsi(text), [text]);
  const marked = useMemo(() => markHits(pieces, query), [pieces, query]);
  return marked.map((piece, index) => {
    const shown = visibleText(piece.text);
    const className = classOf(piece.style);
    // The pieces of a line have no other name than their place.
    if (piece.isHit) return <mark key={index}>{shown}</mark>;
    if (className === "") return shown;
    return (
      <span key={index} className={className}>
        {shown}
      </span>
    );
  });
}

function classOf({ color, background, isBold, isItalic, isUnderlined, isStruck, isInverse }: TextStyle): string {
  const ground = isInverse === true ? (color ?? "white") : background;
  return classNames(
    // On a ground of a colour only the usual text is surely readable.
    ground === undefined ? color !== undefined && styles[color] : styles[`on-${ground}`],
    isBold === true && styles.bold,
    isItalic === true && styles.italic,
    isUnderlined === true && styles.underlined,
    isStruck === true && styles.struck,
  );
}
