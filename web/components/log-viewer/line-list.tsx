import { useCallback, useEffect, useMemo, type KeyboardEvent, type MouseEvent } from "react";
import { addressOf } from "../../api/address.ts";
import { executionLogs } from "../../api/operations.gen.ts";
import { currentSession } from "../../api/session.ts";
import type { Folding } from "./groups/folding.ts";
import type { Groups } from "./groups/use-groups.ts";
import type { LineSpan } from "./lines/line-range.ts";
import { requestOf, type LogName } from "./lines/log-reader.ts";
import { LogLineRow } from "./log-line.tsx";
import styles from "./log-viewer.module.css";
import type { LineScroller } from "./scroll/use-line-scroller.ts";
import type { OpenLog } from "./use-log.ts";

type LineListProps = {
  readonly log: OpenLog;
  readonly name: LogName;
  readonly label: string;
  readonly scroller: LineScroller;
  readonly folding: Folding;
  readonly groups: Groups;
  readonly query: string;
  readonly showsTimes: boolean;
  readonly currentHit: number | undefined;
  readonly span: LineSpan | undefined;
  readonly onSpan: (span: LineSpan) => void;
  readonly onToggle: (line: number) => void;
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
};

/** The lines in sight and some around them. */
export function LineList(props: LineListProps) {
  const { log, name, label, scroller, folding, groups, query, showsTimes, currentHit, span, onSpan, onToggle } = props;
  const { store } = log;
  const { first, last, isAtEnd } = scroller;
  const numbers = useMemo(
    () => Array.from({ length: Math.max(0, last - first) }, (_, at) => folding.lineOf(first + at)),
    [first, last, folding],
  );
  useEffect(() => store.want(numbers, isAtEnd), [store, numbers, isAtEnd]);
  const downloadUrl = useCallback((from: number, limit: number) => urlOf(name, { from, limit }), [name]);
  const isIn = (number: number): boolean => span !== undefined && span.from <= number && number <= span.to;
  return (
    // What scrolls has to be reachable by the keyboard.
    <div
      ref={scroller.scroller}
      className={styles.scroller}
      tabIndex={0}
      role="region"
      aria-label={`${label}, ${folding.rows} lines`}
      onKeyDown={props.onKeyDown}
      onClick={(event) => selectLines(event, span, onSpan)}
    >
      <div className={styles.content} style={{ height: scroller.contentHeight }}>
        <div ref={scroller.block} className={styles.block}>
          {numbers.map((number) => (
            <LogLineRow
              key={number}
              number={number}
              line={store.line(number)}
              query={query}
              isSelected={isIn(number)}
              isCurrentHit={number === currentHit}
              showsTime={showsTimes}
              isOpen={groups.isOpen(number)}
              onToggle={onToggle}
              downloadUrl={downloadUrl}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/** A click on a number selects the line; with Shift all lines up to it. */
function selectLines(event: MouseEvent, span: LineSpan | undefined, onSpan: (span: LineSpan) => void): void {
  const { ctrlKey, metaKey, shiftKey, target } = event;
  const number = target instanceof HTMLElement ? Number(target.dataset["number"]) : Number.NaN;
  // A new tab opens at the line.
  if (Number.isNaN(number) || ctrlKey || metaKey) return;
  event.preventDefault();
  if (!shiftKey || span === undefined) return onSpan({ from: number, to: number });
  onSpan(number < span.from ? { from: number, to: span.to } : { from: span.from, to: number });
}

/** The address of a download of the log, or of some of its bytes. */
export function urlOf(name: LogName, parts: Readonly<Record<string, string | number>> = {}): string {
  const { path, query } = requestOf(name);
  return addressOf(executionLogs, {
    path,
    query: { ...query, ...parts },
    accountId: currentSession().accountIdentifier,
  });
}
