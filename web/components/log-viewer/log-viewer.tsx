import { useCallback, useEffect, useRef, useState, type KeyboardEvent } from "react";
import { messageOf } from "../../api/api-error.ts";
import { IconButton } from "../../ui/button.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { SkeletonLines } from "../../ui/skeleton.tsx";
import { classNames } from "../../util/class-names.ts";
import { CopyLines } from "./copy-lines.tsx";
import { DownloadMenu } from "./download-menu.tsx";
import { GroupMenu } from "./group-menu.tsx";
import { useGroups } from "./groups/use-groups.ts";
import { HitMarks } from "./hit-marks.tsx";
import { LineList } from "./line-list.tsx";
import type { LineSpan } from "./lines/line-range.ts";
import type { LogName } from "./lines/log-reader.ts";
import { withFlag, withQuery, type LogView } from "./log-view.ts";
import { FollowButton, LineField, SearchTools, Toggle, Tools } from "./log-tools.tsx";
import styles from "./log-viewer.module.css";
import { useLineScroller, type Place } from "./scroll/use-line-scroller.ts";
import { useHits } from "./search/use-hits.ts";
import { useLog, useRevision, useSearch, type OpenLog } from "./use-log.ts";

export type LogViewerProps = {
  readonly name: LogName;
  /** What the log is of: Log of Compile */
  readonly label: string;
  /** Changes whenever there may be more to read. */
  readonly growth: string;
  /** Whether more may be written. */
  readonly isLive: boolean;
  readonly startsAtEnd: boolean;
  readonly isConnected: boolean;
  readonly view: LogView;
  readonly onView: (view: LogView) => void;
  /** The lines that the address names. */
  readonly span: LineSpan | undefined;
  readonly onSpan: (span: LineSpan | undefined) => void;
};

const FIRST_LINES = 200;
/** Lines shown above one that is gone to. */
const ABOVE = 4;

/** The log of a step, of any length. A component for each log: give it the name as its key. */
export function LogViewer(props: LogViewerProps) {
  const { name, span, startsAtEnd, growth, isConnected } = props;
  const log = useLog(
    name,
    span === undefined
      ? startsAtEnd
        ? { last: FIRST_LINES }
        : { from: 1, limit: FIRST_LINES }
      : { from: Math.max(1, span.from - FIRST_LINES / 4), limit: FIRST_LINES },
  );
  useEffect(() => log?.store.grow(), [log, growth]);
  useEffect(() => {
    if (isConnected) log?.store.retry();
  }, [log, isConnected]);
  return (
    <section className={styles.viewer} aria-label={props.label}>
      {log === undefined ? <SkeletonLines lines={8} /> : <Content {...props} log={log} />}
    </section>
  );
}

type ContentProps = LogViewerProps & { readonly log: OpenLog };

function Content(props: ContentProps) {
  const { store } = props.log;
  useRevision(store);
  const size = store.size();
  const error = store.error();
  if (error !== undefined)
    return <ErrorState title="The log could not be loaded" message={messageOf(error)} onRetry={() => store.retry()} />;
  if (size === undefined) return <SkeletonLines lines={8} />;
  if (size.totalLines === 0)
    return (
      <p className={styles.empty}>{props.isLive ? "The step has written nothing yet." : "The step wrote nothing."}</p>
    );
  return <Lines {...props} totalLines={size.totalLines} endOffset={size.endOffset} />;
}

type LinesProps = ContentProps & { readonly totalLines: number; readonly endOffset: number };

function Lines(props: LinesProps) {
  const { log, name, label, view, onView, span, onSpan, totalLines, endOffset, isLive, startsAtEnd } = props;
  const { q = "", wrap = false, times = false } = view;
  const groups = useGroups(log.reader, totalLines, endOffset);
  const { folding } = groups;
  const [start] = useState<Place>(() => startPlace(span, startsAtEnd));
  const scroller = useLineScroller(folding.rows, wrap, start);
  const search = useSearch(log, q);
  const field = useRef<HTMLDivElement>(null);
  const topLine = (): number => folding.lineOf(scroller.topRow());
  const [target, setTarget] = useState<{ readonly line: number }>();
  // A line inside of a closed group is reached once the group is open.
  useEffect(() => {
    if (target !== undefined) scroller.revealRow(folding.rowOf(target.line));
  }, [target, folding, scroller.revealRow]);
  const goTo = (line: number): void => {
    groups.openAround(line);
    setTarget({ line: Math.min(line, totalLines) });
  };
  const hits = useHits(search, { topLine, goTo, hasSpan: span !== undefined });
  useRevealedSpan(span, goTo);
  const onToggle = useToggle(groups, scroller.renumber);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const action = actionOf(event, {
      "/": () => field.current?.querySelector("input")?.focus(),
      n: () => hits.goToNeighbour(1),
      N: () => hits.goToNeighbour(-1),
      w: () => onView(withFlag(view, "wrap", !wrap)),
      t: () => onView(withFlag(view, "times", !times)),
      Home: () => scroller.showRow(0),
      End: scroller.showEnd,
    });
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
  return (
    <>
      <div className={styles.bar}>
        <SearchTools
          field={field}
          query={q}
          onQuery={(text) => onView(withQuery(view, text))}
          onNeighbour={hits.goToNeighbour}
          found={hits.text}
          hasHits={search.hits().length > 0}
        />
        <Tools>
          <LineField span={span} onSpan={onSpan} />
          <GroupMenu groups={groups} topLine={topLine} onToggle={onToggle} />
          <Toggle
            icon="wrap"
            label="Wrap long lines (w)"
            isOn={wrap}
            onChange={(on) => onView(withFlag(view, "wrap", on))}
          />
          <Toggle
            icon="clock"
            label="Show times (t)"
            isOn={times}
            onChange={(on) => onView(withFlag(view, "times", on))}
          />
          <IconButton icon="arrow-up" label="Go to the beginning (Home)" onClick={() => scroller.showRow(0)} />
          <IconButton icon="arrow-down" label="Go to the end (End)" onClick={scroller.showEnd} />
          <CopyLines reader={log.reader} span={span} totalLines={totalLines} />
          <DownloadMenu name={name} />
        </Tools>
      </div>
      <div className={classNames(styles.body, wrap && styles.wrap)}>
        <LineList
          {...{ log, name, label, scroller, folding, groups, span, onSpan, onToggle, onKeyDown }}
          query={q}
          showsTimes={times}
          currentHit={hits.current}
        />
        {q !== "" && <HitMarks hits={search.hits()} revision={search.revision()} totalLines={totalLines} />}
        {isLive && !scroller.isAtEnd && <FollowButton onFollow={scroller.showEnd} />}
      </div>
    </>
  );
}

function startPlace(span: LineSpan | undefined, startsAtEnd: boolean): Place {
  if (span !== undefined) return { row: Math.max(0, span.from - 1 - ABOVE), offset: 0 };
  return startsAtEnd ? "end" : { row: 0, offset: 0 };
}

/** The address may name other lines later, as by the back button. */
function useRevealedSpan(span: LineSpan | undefined, goTo: (line: number) => void): void {
  const latest = useRef(goTo);
  latest.current = goTo;
  const first = useRef(true);
  const line = span?.from;
  useEffect(() => {
    if (line !== undefined && !first.current) latest.current(line);
    first.current = false;
  }, [line]);
}

/** Keeps the line at the top where it is. */
function useToggle(
  groups: ReturnType<typeof useGroups>,
  renumber: ReturnType<typeof useLineScroller>["renumber"],
): (line: number) => void {
  const { folding, toggle } = groups;
  const former = useRef(folding);
  const isDue = useRef(false);
  useEffect(() => {
    const { lineOf } = former.current;
    if (isDue.current) renumber((row) => folding.rowOf(lineOf(row)));
    isDue.current = false;
    former.current = folding;
  }, [folding, renumber]);
  return useCallback(
    (line) => {
      isDue.current = true;
      toggle(line);
    },
    [toggle],
  );
}

type Actions = Readonly<Record<string, () => void>>;

/** Single keys count only while the log has the focus, and not in fields. */
function actionOf(event: KeyboardEvent<HTMLElement>, actions: Actions): (() => void) | undefined {
  const { key, ctrlKey, metaKey, altKey } = event;
  if (altKey) return undefined;
  // The browser's own search would miss what is not in the page.
  if (ctrlKey || metaKey)
    return key === "f" ? actions["/"] : key === "Home" || key === "End" ? actions[key] : undefined;
  return Object.hasOwn(actions, key) ? actions[key] : undefined;
}
