/**
 * Splits a line of output into pieces of one style each. It knows the sequences that set colours and styles (SGR of
 * ECMA-48) and leaves all others out: titles, links and movements of the cursor. Each line begins without a style,
 * because lines are read in any order.
 */
export type Hue = "black" | "red" | "green" | "yellow" | "blue" | "magenta" | "cyan" | "white" | "grey";

export type TextStyle = {
  readonly color?: Hue | undefined;
  readonly background?: Hue | undefined;
  readonly isBold?: boolean;
  readonly isItalic?: boolean;
  readonly isUnderlined?: boolean;
  readonly isStruck?: boolean;
  readonly isInverse?: boolean;
};

export type Piece = { readonly text: string; readonly style: TextStyle };

const PLAIN: TextStyle = {};
/** As the search of the API leaves them out: those that begin with `[`; with `]`, up to their end; others. */
const SEQUENCES = /\u001B(?:\[([0-?]*)([ -/]*[@-~])|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[ -/]*[0-~])/g;

export function parseAnsi(line: string): readonly Piece[] {
  const text = lastState(line);
  if (!text.includes("\u001B")) return text === "" ? [] : [{ text, style: PLAIN }];
  const pieces: Piece[] = [];
  let style = PLAIN;
  let from = 0;
  for (const found of text.matchAll(SEQUENCES)) {
    if (found.index > from) addPiece(pieces, text.slice(from, found.index), style);
    from = found.index + found[0].length;
    const [, parameters = "", end] = found;
    if (end === "m") style = applyParameters(style, parameters);
  }
  if (from < text.length) addPiece(pieces, text.slice(from), style);
  return pieces;
}

/** The text without its sequences, as the search of the API sees it. */
export const plainText = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join("");

/** What carriage returns leave of a line: progress bars overwrite themselves. */
function lastState(line: string): string {
  const end = line.replace(/\r+$/, "");
  return end.slice(end.lastIndexOf("\r") + 1);
}

function addPiece(pieces: Piece[], text: string, style: TextStyle): void {
  const last = pieces.at(-1);
  if (last?.style === style) pieces[pieces.length - 1] = { text: last.text + text, style };
  else pieces.push({ text, style });
}

const HUES: readonly Hue[] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
/** Bright colours are as the others: each is chosen for its contrast with the page. */
const BRIGHT_HUES: readonly Hue[] = ["grey", ...HUES.slice(1)];

const CODES: ReadonlyMap<number, TextStyle> = new Map([
  [1, { isBold: true }],
  [2, { color: "grey" }],
  [3, { isItalic: true }],
  [4, { isUnderlined: true }],
  [7, { isInverse: true }],
  [9, { isStruck: true }],
  [22, { isBold: false }],
  [23, { isItalic: false }],
  [24, { isUnderlined: false }],
  [27, { isInverse: false }],
  [29, { isStruck: false }],
  [39, { color: undefined }],
  [49, { background: undefined }],
  ...HUES.map((color, at): [number, TextStyle] => [30 + at, { color }]),
  ...HUES.map((background, at): [number, TextStyle] => [40 + at, { background }]),
  ...BRIGHT_HUES.map((color, at): [number, TextStyle] => [90 + at, { color }]),
  ...BRIGHT_HUES.map((background, at): [number, TextStyle] => [100 + at, { background }]),
]);

function applyParameters(style: TextStyle, parameters: string): TextStyle {
  const codes = parameters.split(/[;:]/).map(Number);
  let next = style;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 0) next = PLAIN;
    else if (code === 38 || code === 48) {
      const { hue, length } = extendedHue(codes.slice(at + 1, at + 5));
      next = { ...next, [code === 38 ? "color" : "background"]: hue };
      at += length;
    } else next = { ...next, ...CODES.get(code) };
  }
  return next;
}

/** Of 256 colours, or of red, green and blue, the nearest hue: an own colour might not be readable. */
function extendedHue([kind, a = 0, b = 0, c = 0]: readonly number[]): { readonly hue?: Hue; readonly length: number } {
  if (kind === 2) return { hue: hueOf(a, b, c), length: 4 };
  if (kind !== 5) return { length: 0 };
  return { hue: hueOfIndex(a), length: 2 };
}

function hueOfIndex(index: number): Hue {
  if (index < 16) return (index < 8 ? HUES : BRIGHT_HUES)[index % 8] ?? "white";
  if (index >= 232) return hueOf(index - 232, index - 232, index - 232, 24);
  const level = (place: number): number => Math.floor((index - 16) / place) % 6;
  return hueOf(level(36), level(6), level(1), 5);
}

function hueOf(red: number, green: number, blue: number, most = 255): Hue {
  const high = Math.max(red, green, blue);
  const low = Math.min(red, green, blue);
  if (high - low < most * 0.15) return high < most * 0.25 ? "black" : high < most * 0.7 ? "grey" : "white";
  const isOn = (value: number): number => (value > (high + low) / 2 ? 1 : 0);
  return HUES[isOn(red) + 2 * isOn(green) + 4 * isOn(blue)] ?? "white";
}
