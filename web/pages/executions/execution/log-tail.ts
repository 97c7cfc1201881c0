/** The preview shows at most this many lines. */
export const LINES = 500;
/** From how far before its end a log is read. */
export const TAIL_BYTES = 64 * 1024;
const MOST_CHARACTERS = 4 * TAIL_BYTES;

/** Keeps the last lines of a log that grows. `startsInside`: its beginning may be in the middle of a line. */
export function createLogTail(startsInside: boolean) {
  let text = "";
  let isCut = startsInside;
  let isFirstLineWhole = !startsInside;
  return {
    add(piece: string): void {
      text += piece;
      if (!isFirstLineWhole && text.includes("\n")) {
        text = text.slice(text.indexOf("\n") + 1);
        isFirstLineWhole = true;
      }
      const start = Math.max(startOfLast(text, LINES), text.length - MOST_CHARACTERS);
      if (start <= 0) return;
      text = text.slice(start);
      isCut = true;
    },
    text: (): string => text,
    /** Whether lines before it are missing. */
    isCut: (): boolean => isCut,
  };
}

/** Where the last `lines` lines begin; 0 if there are no more. */
function startOfLast(text: string, lines: number): number {
  let at = text.endsWith("\n") ? text.length - 1 : text.length;
  for (let line = 0; line < lines; line += 1) {
    at = text.lastIndexOf("\n", at - 1);
    if (at === -1) return 0;
  }
  return at + 1;
}
