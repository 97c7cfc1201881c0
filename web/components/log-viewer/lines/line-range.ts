/** Lines as addresses name them: L10, L10-L20. Readers may also write 10-20. */
export type LineSpan = { readonly from: number; readonly to: number };

const SPAN = /^L?(\d{1,12})(?:-L?(\d{1,12}))?$/i;

/** Undefined if it names no lines. */
export function parseLineSpan(text: string): LineSpan | undefined {
  const [, first, second = first] = SPAN.exec(text.trim()) ?? [];
  const numbers = [Number(first), Number(second)];
  const [from, to] = [Math.min(...numbers), Math.max(...numbers)];
  return from >= 1 ? { from, to } : undefined;
}

export const formatLineSpan = ({ from, to }: LineSpan): string => (from === to ? `L${from}` : `L${from}-L${to}`);
