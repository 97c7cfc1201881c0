/**
 * Scrolls rows of which only those in sight are in the page. The row at the top, with the pixels of it that are hidden,
 * is the truth; the scroll bar follows it. So rows may have any height, and more of them than pixels.
 */
import { useCallback, useEffect, useLayoutEffect, useReducer, useRef, type RefObject } from "react";
import { flushSync } from "react-dom";
import { contentHeight, isEnd, isToScale, rowAt, scrollTopOf, type Geometry } from "./scroll-map.ts";

/** What is at the top of the visible part; or the end of the rows is at its bottom. */
export type Place = { readonly row: number; readonly offset: number } | "end";

/** Rows in the page above and below those in sight. */
const OVERSCAN = 20;
const LINE_HEIGHT = 20;
/** After the last scroll event for this long, the scroll bar is set to where the rows are. */
const REST_MS = 120;

export type LineScroller = {
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** Holds the rows that are in the page, and nothing else. */
  readonly block: RefObject<HTMLDivElement | null>;
  readonly contentHeight: number;
  /** Rows that are in the page: from the first one up to before the last one. */
  readonly first: number;
  readonly last: number;
  readonly isAtEnd: boolean;
  readonly showRow: (row: number) => void;
  /** Does nothing if the row is in sight. */
  readonly revealRow: (row: number) => void;
  readonly showEnd: () => void;
  /** The first row in sight. */
  readonly topRow: () => number;
  /** Other rows follow: the one at the top has another number. */
  readonly renumber: (rowOf: (former: number) => number) => void;
};

type State = {
  place: Place;
  scrollTop: number;
  isScrolling: boolean;
  viewHeight: number;
  lineHeight: number;
  averageHeight: number;
  /** Pixels of the block that are above the visible part. */
  above: number;
};

/** `wraps`: rows differ in height. */
export function useLineScroller(rows: number, wraps: boolean, start: Place): LineScroller {
  const scroller = useRef<HTMLDivElement>(null);
  const block = useRef<HTMLDivElement>(null);
  const [, render] = useReducer((count: number) => count + 1, 0);
  const state = useRef<State>({
    ...{ place: start, scrollTop: 0, isScrolling: false, above: 0 },
    ...{ viewHeight: 600, lineHeight: LINE_HEIGHT, averageHeight: LINE_HEIGHT },
  }).current;
  // Closed groups may have taken the rows that were in sight.
  if (state.place !== "end" && state.place.row >= rows) state.place = "end";
  const geometry: Geometry = {
    rows,
    rowHeight: wraps ? state.averageHeight : state.lineHeight,
    viewHeight: state.viewHeight,
  };
  const inSight = Math.ceil(state.viewHeight / state.lineHeight) + 1;
  const top = state.place === "end" ? Math.max(0, rows - inSight) : state.place.row;
  const first = Math.max(0, top - OVERSCAN);
  const last = Math.min(rows, top + inSight + OVERSCAN);
  const latest = useRef({ geometry, first, last, wraps });
  latest.current = { geometry, first, last, wraps };

  useLayoutEffect(() => {
    const [view, held] = [scroller.current, block.current];
    if (view !== null && held !== null && alignBlock(state, view, held, latest.current)) render();
  });

  useEffect(() => {
    const view = scroller.current;
    if (view === null) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onScroll = (): void => {
      const delta = view.scrollTop - state.scrollTop;
      // Set by this hook, or scrolled to the side.
      if (Math.abs(delta) < 1) return;
      state.scrollTop = view.scrollTop;
      state.isScrolling = true;
      clearTimeout(timer);
      timer = setTimeout(() => {
        state.isScrolling = false;
        render();
      }, REST_MS);
      state.place = placeAfter(state, block.current, delta, latest.current);
      flushSync(render);
    };
    const observer = new ResizeObserver(() => {
      if (view.clientHeight === state.viewHeight) return;
      state.viewHeight = view.clientHeight;
      render();
    });
    observer.observe(view);
    view.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      view.removeEventListener("scroll", onScroll);
    };
  }, [state]);

  const show = useCallback(
    (place: Place): void => {
      state.place = place;
      state.isScrolling = false;
      render();
    },
    [state],
  );
  const topRow = useCallback(
    (): number => (state.place === "end" ? visibleRows(state, latest.current, block.current)[0] : state.place.row),
    [state],
  );
  return {
    ...{ scroller, block, first, last, contentHeight: contentHeight(geometry) },
    isAtEnd: state.place === "end",
    topRow,
    renumber: useCallback(
      (rowOf) => {
        const { first: firstRow } = latest.current;
        const row = block.current === null ? 0 : firstRow + rowIn(block.current, state.above);
        const offset = block.current === null ? 0 : (row % 1) * heightOf(block.current, Math.floor(row) - firstRow, 0);
        show({ row: rowOf(Math.floor(row)), offset });
      },
      [state, show],
    ),
    showEnd: useCallback(() => show("end"), [show]),
    showRow: useCallback((row) => show({ row, offset: 0 }), [show]),
    revealRow: useCallback(
      (row) => {
        const [from, to] = visibleRows(state, latest.current, block.current);
        // With some rows before it, which explain it.
        if (row < from || row > to) show({ row: Math.max(0, row - 4), offset: 0 });
      },
      [state, show],
    ),
  };
}

type Latest = { readonly geometry: Geometry; readonly first: number; readonly last: number; readonly wraps: boolean };

/** Moves the block so that the place is in sight, and the scroll bar with it. Returns whether to render again. */
function alignBlock(
  state: State,
  view: HTMLElement,
  block: HTMLElement,
  { geometry, first, last, wraps }: Latest,
): boolean {
  const height = block.offsetHeight;
  const isComplete = last === geometry.rows;
  const { place } = state;
  let above = 0;
  if (place !== "end") above = offsetOf(block, place.row - first) + place.offset;
  const endsAbove = isComplete && (place === "end" || height - above <= state.viewHeight);
  if (endsAbove) above = Math.max(0, height - state.viewHeight);
  state.above = above;
  const wasAtEnd = place === "end";
  // Rows that all fit stay at their end, so that a log that grows is followed.
  if (endsAbove) state.place = "end";
  if (!state.isScrolling) {
    const target = endsAbove ? geometry.rows : first + rowIn(block, above);
    view.scrollTop = endsAbove ? contentHeight(geometry) : scrollTopOf(target, geometry);
    state.scrollTop = view.scrollTop;
  }
  block.style.transform = `translateY(${state.scrollTop - above}px)`;
  return measure(state, block, wraps) || wasAtEnd !== endsAbove;
}

/** Learns the height of rows. Returns whether it differs. */
function measure(state: State, block: HTMLElement, wraps: boolean): boolean {
  const rows = block.children.length;
  if (rows === 0 || state.isScrolling) return false;
  const mean = block.offsetHeight / rows;
  if (!wraps && Math.abs(mean - state.lineHeight) > 0.01) {
    state.lineHeight = mean;
    return true;
  }
  if (!wraps || Math.abs(mean - state.averageHeight) < state.averageHeight / 4) return false;
  // Slowly, because the scroll bar moves with it.
  state.averageHeight = (state.averageHeight + mean) / 2;
  return true;
}

function placeAfter(state: State, block: HTMLElement | null, delta: number, { geometry, first, wraps }: Latest): Place {
  const isNear = Math.abs(delta) <= 2 * state.viewHeight;
  if (isNear && block !== null && (wraps || !isToScale(geometry)))
    return placeNearby(state, block, delta, geometry, first);
  if (isEnd(state.scrollTop, geometry)) return "end";
  const row = rowAt(state.scrollTop, geometry);
  return { row: Math.floor(row), offset: (row % 1) * geometry.rowHeight };
}

/** Pixel by pixel, where the scroll bar is too coarse or rows differ in height. */
function placeNearby(state: State, block: HTMLElement, delta: number, geometry: Geometry, first: number): Place {
  const above = state.above + delta;
  const row = first + rowIn(block, above);
  if (row <= 0) return { row: 0, offset: 0 };
  const place = {
    row: Math.floor(row),
    offset: (row % 1) * heightOf(block, Math.floor(row) - first, geometry.rowHeight),
  };
  const isAtBorder = state.scrollTop <= 0 || isEnd(state.scrollTop, geometry);
  // The scroll bar has come to its end before the rows: it has to be set at once, so that scrolling goes on.
  if (isAtBorder) state.isScrolling = false;
  return place;
}

const rowElement = (block: HTMLElement, index: number): HTMLElement | undefined =>
  block.children.item(index) as HTMLElement | undefined;

const offsetOf = (block: HTMLElement, index: number): number => rowElement(block, index)?.offsetTop ?? 0;
const heightOf = (block: HTMLElement, index: number, otherwise: number): number =>
  rowElement(block, index)?.offsetHeight ?? otherwise;

/** The row that begins at or above these pixels of the block, with its part that is above them. */
function rowIn(block: HTMLElement, pixels: number): number {
  const count = block.children.length;
  const mean = count === 0 ? LINE_HEIGHT : block.offsetHeight / count;
  if (pixels < 0) return pixels / mean;
  if (pixels >= block.offsetHeight) return count + (pixels - block.offsetHeight) / mean;
  let [low, high] = [0, count - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (offsetOf(block, middle) <= pixels) low = middle;
    else high = middle - 1;
  }
  return low + (pixels - offsetOf(block, low)) / heightOf(block, low, mean);
}

/** The first and the last row that are wholly in sight. */
function visibleRows(state: State, { first }: Latest, block: HTMLElement | null): readonly [number, number] {
  if (block === null) return [0, 0];
  return [
    first + Math.ceil(rowIn(block, state.above) - 0.01),
    first + Math.floor(rowIn(block, state.above + state.viewHeight)) - 1,
  ];
}
