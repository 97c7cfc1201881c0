/** Writes dates by a pattern of Java's DateTimeFormatter, in UTC and English. */
import { ExpressionError } from "../error.ts";

const MONTHS = "January February March April May June July August September October November December".split(" ");
const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

type Instant = { readonly ms: number; readonly hasTime: boolean; readonly at: number };

type Field = {
  readonly counts: readonly number[];
  readonly ofTime: boolean;
  readonly write: (date: Date, count: number) => string;
};

const number = (of: (date: Date) => number, ofTime: boolean): Field => ({
  counts: [1, 2],
  ofTime,
  write: (date, count) => String(of(date)).padStart(count, "0"),
});

const named = (names: readonly string[], index: number, count: number): string =>
  (names[index] ?? "").slice(0, count === 3 ? 3 : undefined);

const year: Field = {
  counts: [2, 4],
  ofTime: false,
  write: (date, count) => String(date.getUTCFullYear()).padStart(4, "0").slice(-count),
};

/** By their letter; `counts` says how often it may stand in a row. */
const FIELDS: ReadonlyMap<string, Field> = new Map<string, Field>([
  ["y", year],
  ["u", year],
  [
    "M",
    {
      counts: [1, 2, 3, 4],
      ofTime: false,
      write: (date, count) => {
        const month = date.getUTCMonth();
        return count > 2 ? named(MONTHS, month, count) : String(month + 1).padStart(count, "0");
      },
    },
  ],
  ["d", number((date) => date.getUTCDate(), false)],
  [
    "E",
    {
      counts: [1, 2, 3, 4],
      ofTime: false,
      write: (date, count) => named(DAYS, date.getUTCDay(), Math.max(count, 3)),
    },
  ],
  ["H", number((date) => date.getUTCHours(), true)],
  ["h", number((date) => date.getUTCHours() % 12 || 12, true)],
  ["m", number((date) => date.getUTCMinutes(), true)],
  ["s", number((date) => date.getUTCSeconds(), true)],
  ["a", { counts: [1], ofTime: true, write: (date) => (date.getUTCHours() < 12 ? "AM" : "PM") }],
  ["X", { counts: [1, 2, 3], ofTime: true, write: () => "Z" }],
]);

/** One letter in a row, quoted text, or other characters. A lone quote matches none of them. */
const PIECE = /([A-Za-z])\1*|'((?:[^']|'')*)'|[^A-Za-z']+/y;

/** Throws ExpressionError at `at` for letters that have no meaning here. */
export function formatDate(pattern: string, { ms, hasTime, at }: Instant): string {
  const date = new Date(ms);
  const pieces: string[] = [];
  PIECE.lastIndex = 0;
  for (let done = 0; done < pattern.length; done = PIECE.lastIndex) {
    const piece = PIECE.exec(pattern);
    if (!piece) throw new ExpressionError("type", "format() has a quote without its partner", at);
    const [text, letter, quoted] = piece;
    if (letter === undefined)
      pieces.push(quoted === undefined ? text : quoted === "" ? "'" : quoted.replaceAll("''", "'"));
    else pieces.push(writtenField(text, { date, hasTime, at }));
  }
  return pieces.join("");
}

type Written = { readonly date: Date; readonly hasTime: boolean; readonly at: number };

function writtenField(letters: string, { date, hasTime, at }: Written): string {
  const field = FIELDS.get(letters.charAt(0));
  if (!field?.counts.includes(letters.length)) {
    throw new ExpressionError(
      "type",
      `format() does not know '${letters.slice(0, 20)}'; text stands in quotes: 'at'`,
      at,
    );
  }
  if (field.ofTime && !hasTime) {
    throw new ExpressionError("type", `format() finds no time for '${letters}' in a date`, at);
  }
  return field.write(date, letters.length);
}
