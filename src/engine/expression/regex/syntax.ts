/** The tree of a regular expression. Characters are code points. */
export type Pattern =
  | { readonly kind: "set"; readonly set: CharSet }
  | { readonly kind: "assertion"; readonly assertion: Assertion }
  | { readonly kind: "group"; readonly number: number; readonly inner: Pattern }
  | { readonly kind: "sequence"; readonly parts: readonly Pattern[] }
  | { readonly kind: "choice"; readonly options: readonly Pattern[] }
  | {
      readonly kind: "repeat";
      readonly inner: Pattern;
      readonly least: number;
      /** Infinity for `*` and `+`. */
      readonly most: number;
      readonly isGreedy: boolean;
    };

export type Assertion = "start" | "end" | "wordEdge" | "noWordEdge";

export type Range = readonly [first: number, last: number];

/** The characters of the ranges, or all others. */
export type CharSet = { readonly ranges: readonly Range[]; readonly isNegated: boolean };

export type ParsedPattern = { readonly root: Pattern; readonly groups: number; readonly ignoresCase: boolean };

const LAST = 0x10ffff;

const code = (char: string): number => char.codePointAt(0) ?? 0;

const DIGITS: readonly Range[] = [[code("0"), code("9")]];
const WORD: readonly Range[] = [...DIGITS, [code("A"), code("Z")], [code("_"), code("_")], [code("a"), code("z")]];
/** Tab, line feed, vertical tab, form feed, carriage return, space. */
const BLANKS: readonly Range[] = [
  [9, 13],
  [32, 32],
];

/** `\d`, `\w`, `\s` and their opposites, as in Java without flags. */
export const CLASSES: ReadonlyMap<string, CharSet> = new Map([
  ["d", { ranges: DIGITS, isNegated: false }],
  ["D", { ranges: DIGITS, isNegated: true }],
  ["w", { ranges: WORD, isNegated: false }],
  ["W", { ranges: WORD, isNegated: true }],
  ["s", { ranges: BLANKS, isNegated: false }],
  ["S", { ranges: BLANKS, isNegated: true }],
]);

/** `.`: each character but the ends of lines, or each. */
export const anyChar = (withLineEnds: boolean): CharSet => ({
  ranges: withLineEnds
    ? []
    : [
        [10, 10],
        [13, 13],
        [0x85, 0x85],
        [0x2028, 0x2029],
      ],
  isNegated: true,
});

/** The ranges of a set without negation. */
export function rangesOf({ ranges, isNegated }: CharSet): readonly Range[] {
  if (!isNegated) return ranges;
  const sorted = ranges.toSorted(([a], [b]) => a - b);
  const others: Range[] = [];
  let next = 0;
  for (const [first, last] of sorted) {
    if (first > next) others.push([next, first - 1]);
    next = Math.max(next, last + 1);
  }
  return next > LAST ? others : [...others, [next, LAST]];
}

export const isWord = (char: number | undefined): boolean =>
  char !== undefined && WORD.some(([first, last]) => char >= first && char <= last);
