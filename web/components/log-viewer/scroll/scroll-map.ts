/**
 * Where rows stand in a scroll bar. Browsers allow elements of some 30 million pixels; a log of ten million lines would
 * have 200 million. Beyond a limit a pixel of the scroll bar therefore stands for several rows.
 */
export type Geometry = {
  readonly rows: number;
  /** Pixels of a row on average. */
  readonly rowHeight: number;
  /** Pixels of the visible part. */
  readonly viewHeight: number;
};

export const MOST_PIXELS = 8_000_000;

/** Height of the content that the scroll bar is for. */
export const contentHeight = ({ rows, rowHeight, viewHeight }: Geometry): number =>
  Math.max(viewHeight, Math.min(MOST_PIXELS, rows * rowHeight));

/** Whether a pixel of the scroll bar stands for a pixel of the content. */
export const isToScale = ({ rows, rowHeight }: Geometry): boolean => rows * rowHeight <= MOST_PIXELS;

/** Rows that can be above the visible part. */
const rowsAbove = ({ rows, rowHeight, viewHeight }: Geometry): number => Math.max(0, rows - viewHeight / rowHeight);

const mostScrollTop = (geometry: Geometry): number => contentHeight(geometry) - geometry.viewHeight;

/** `row`: the first visible one, with the part of it that is hidden. */
export function scrollTopOf(row: number, geometry: Geometry): number {
  const most = rowsAbove(geometry);
  return most === 0 ? 0 : Math.min(1, row / most) * mostScrollTop(geometry);
}

export function rowAt(scrollTop: number, geometry: Geometry): number {
  const most = mostScrollTop(geometry);
  return most <= 0 ? 0 : Math.min(1, Math.max(0, scrollTop / most)) * rowsAbove(geometry);
}

export const isEnd = (scrollTop: number, geometry: Geometry): boolean => scrollTop >= mostScrollTop(geometry) - 1;
