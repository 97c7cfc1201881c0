import { plainText, type Piece } from "./ansi.ts";

export type MarkedPiece = Piece & { readonly isHit: boolean };

/** Splits pieces where the text that is searched for begins and ends. Case does not matter, as in the search. */
export function markHits(pieces: readonly Piece[], wanted: string): readonly MarkedPiece[] {
  const plain = plainText(pieces);
  const hits = wanted === "" ? [] : positionsOf(plain, wanted);
  const marked: MarkedPiece[] = [];
  let at = 0;
  for (const { text, style } of pieces) {
    const end = at + text.length;
    const borders = hits.flatMap((hit) => [hit, hit + wanted.length]).filter((border) => border > at && border < end);
    for (const border of [...borders, end]) {
      // One hit ends where the next one begins.
      if (border === at) continue;
      const isHit = hits.some((hit) => hit <= at && at < hit + wanted.length);
      marked.push({ text: plain.slice(at, border), style, isHit });
      at = border;
    }
  }
  return marked;
}

/** Lines may have thousands; more would not be seen. */
const MOST_IN_LINE = 100;

function positionsOf(plain: string, wanted: string): readonly number[] {
  const lower = plain.toLowerCase();
  // A few letters get longer: then only equal letters are marked.
  const [text, part] = lower.length === plain.length ? [lower, wanted.toLowerCase()] : [plain, wanted];
  const found: number[] = [];
  for (let at = text.indexOf(part); at !== -1 && found.length < MOST_IN_LINE; at = text.indexOf(part, at + part.length))
    found.push(at);
  return found;
}
