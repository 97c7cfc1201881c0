/** How a line could be written whose code holds an expression, where its form is simple enough to say so. */
import type { Language } from "./reasons.ts";
import type { Hole } from "./scanner.ts";

/** A command whose last word so far is code, cut at its expressions. */
type Line = {
  /** The command up to the code, and what follows the code on its line. */
  readonly start: string;
  readonly rest: string;
  /** The code without its quotes, and which of `values` stands after each piece but the last. */
  readonly pieces: readonly string[];
  readonly places: readonly number[];
  readonly quote: string;
  /** The expressions, each once. */
  readonly values: readonly string[];
};

/** The line, with a line above where it needs one; undefined where it would take more than a few words. */
export function rewrittenLine(source: string, { refusal, word }: Hole, holes: readonly Hole[]): string | undefined {
  const rewrite = refusal?.language && REWRITES[refusal.language];
  if (!word || !rewrite || source.slice(word.command, word.to).includes("\n")) return undefined;
  const inside = holes.filter((one) => one.word === word);
  if (inside.some((one) => one.refusal !== refusal)) return undefined;
  const values = [...new Set(inside.map(({ part }) => part.text))];
  const quoted = /^(["']?)(.*)\1$/s.exec(source.slice(word.from, word.to));
  const quote = quoted?.[1] ?? "";
  const pieces = piecesOf(source, inside, { from: word.from + quote.length, to: word.to - quote.length });
  if (pieces.some((piece) => piece.includes("\\") || (quote !== "" && piece.includes(quote)))) return undefined;
  const line = rewrite({
    start: source.slice(word.command, word.from),
    rest: source.slice(word.to).split("\n", 1)[0] ?? "",
    ...{ pieces, quote, values, places: inside.map(({ part }) => values.indexOf(part.text)) },
  });
  const before = source.slice(source.lastIndexOf("\n", word.command) + 1, word.command).trimStart();
  return line && `${line.above ?? ""}${before}${line.text}`;
}

function piecesOf(source: string, holes: readonly Hole[], { from, to }: { from: number; to: number }): string[] {
  const starts = [from, ...holes.map(({ part }) => part.end)];
  const ends = [...holes.map(({ part }) => part.start), to];
  return starts.map((start, nth) => source.slice(start, ends[nth]));
}

/** Where an expression stands in the code: in a literal and which, and whether it is all of it. */
type Spot = { readonly literal: string; readonly isWhole: boolean; readonly before: string };

/** The code with each expression as `write` says; what is all of a literal takes the place of its quotes too. */
function fill({ pieces, places }: Line, write: (nth: number, spot: Spot) => string | undefined): string | undefined {
  let code = "";
  let literal = "";
  for (const [nth, piece] of pieces.entries()) {
    const isClosed = literal === " ";
    if (isClosed) literal = "";
    const read = isClosed ? piece.slice(1) : piece;
    for (const c of read)
      if (c === literal) literal = "";
      else if (literal === "" && /["']/.test(c)) literal = c;
    const place = places[nth];
    if (place === undefined) return code + read;
    const isWhole = literal !== "" && read.endsWith(literal) && pieces[nth + 1]?.startsWith(literal) === true;
    const written = write(place, { literal, isWhole, before: read });
    if (written === undefined) return undefined;
    code += (isWhole ? read.slice(0, -1) : read) + written;
    if (isWhole) literal = " ";
  }
  return code;
}

type Rewritten = { readonly text: string; readonly above?: string };
type Rewrite = (line: Line) => Rewritten | undefined;

const NAMES = ["v", "v2", "v3", "v4"];
const nameOf = (nth: number): string | undefined => NAMES[nth];

/** In single quotes where it has none, else in double quotes where nothing in it expands. */
function quotedAnew(code: string): string | undefined {
  if (!code.includes("'")) return `'${code}'`;
  return /["$`\\]/.test(code) ? undefined : `"${code}"`;
}

/** Code between double quotes that the script's Bash changes before the program reads it. */
const isChanged = ({ quote, pieces }: Line): boolean =>
  quote === "" || (quote === '"' && pieces.some((piece) => /[$`]/.test(piece)));

/** True when no further words of the command follow. */
const isLast = ({ rest }: Line): boolean => /^[ \t]*(?:$|[;|&)<>#])/.test(rest);

const endsIn = ({ start }: Line, option: string): boolean => start.endsWith(` ${option} `);

/** Programs that get the value by an option before their code. */
const byOption =
  (option: (name: string, value: string, isText: boolean) => string, write: Parameters<typeof fill>[1]): Rewrite =>
  (line) => {
    const bare = new Set<number>();
    const code = fill(line, (nth, spot) => {
      if (spot.literal === "") bare.add(nth);
      return nameOf(nth) === undefined ? undefined : write(nth, spot);
    });
    const quoted = code === undefined || isChanged(line) ? undefined : quotedAnew(code);
    if (quoted === undefined) return undefined;
    const options = line.values.map((value, nth) => option(nameOf(nth) ?? "", value, !bare.has(nth)));
    return { text: `${line.start}${options.join("")}${quoted}${line.rest}` };
  };

/** Interpreters that get the value as an argument after their code, behind the option that the code follows. */
const byArgument =
  (
    option: string,
    reference: (nth: number, spot: Spot) => string | undefined,
    { first = "", zeroth = " --" } = {},
  ): Rewrite =>
  (line) => {
    const code = endsIn(line, option) && isLast(line) && !isChanged(line) ? fill(line, reference) : undefined;
    const quoted = code === undefined ? undefined : quotedAnew(`${first}${code}`);
    if (quoted === undefined) return undefined;
    const words = line.values.map((value) => ` "${value}"`).join("");
    return { text: `${line.start}${quoted}${zeroth}${words}${line.rest}` };
  };

/** A second shell reads the words: the value is quoted for it. */
const quotedForShell: Rewrite = (line) => {
  const code = fill(line, (nth, { literal, isWhole }) =>
    (literal === "" || isWhole) && nameOf(nth) !== undefined ? `\${${nameOf(nth)}@Q}` : undefined,
  );
  const isFixed = line.quote === "'" && line.pieces.some((piece) => /[$`]/.test(piece));
  if (code === undefined || isFixed || code.includes('"')) return undefined;
  const above = line.values.map((value, nth) => `${nameOf(nth)}="${value}"\n`).join("");
  return { text: `${line.start}"${code}"${line.rest}`, above };
};

const psql: Rewrite = (line) => {
  const code = fill(line, (nth, { literal, isWhole }) =>
    literal === "'" && isWhole ? `:'${nameOf(nth)}'` : undefined,
  );
  if (code === undefined || isChanged(line) || code.includes('"') || !isLast(line) || !endsIn(line, "-c"))
    return undefined;
  const options = line.values.map((value, nth) => `-v ${nameOf(nth)}="${value}" `).join("");
  return { text: `${line.start.slice(0, -"-c ".length)}${options}<<< "${code}"${line.rest}` };
};

/** `s/WORD/…/` on one file, which Bash can do. */
const sed: Rewrite = ({ start, rest, pieces, values }) => {
  const [head = "", tail = "", ...more] = pieces;
  const [, separator, pattern, before] = /^s([/|,#])([\w@-]+)\1([\w.:@ -]*)$/.exec(head) ?? [];
  const [, after, end, flag] = /^([\w.:@ -]*)([/|,#])(g?)$/.exec(tail) ?? [];
  const [, file, further] = /^ ([\w./-]+)((?: *[>|;].*)?)$/.exec(rest) ?? [];
  if (start !== "sed " || more.length > 0 || file === undefined || end === undefined || separator !== end)
    return undefined;
  const slash = flag === "g" ? "//" : "/";
  const line = `\${line${slash}${pattern}/"${before}${values[0]}${after}"}`;
  return { text: `while IFS= read -r line; do printf '%s\\n' "${line}"; done < ${file}${further}` };
};

const sequence: Rewrite = ({ start, rest, pieces, values, quote }) => {
  const first = /^\{(-?[0-9]+)\.\.$/.exec(pieces[0] ?? "")?.[1];
  if (first === undefined || pieces[1] !== "}" || pieces.length !== 2 || quote !== "") return undefined;
  return { text: `${start}$(seq ${first} ${values[0]})${rest}` };
};

const inJq = (nth: number, { literal, isWhole }: Spot): string | undefined => {
  if (literal === "'") return undefined;
  return literal === "" || isWhole ? `$${nameOf(nth)}` : `\\($${nameOf(nth)})`;
};

function inAwk(nth: number, { literal, isWhole, before }: Spot): string | undefined {
  if (literal === "'" || before.includes("/")) return undefined;
  return literal === "" || isWhole ? nameOf(nth) : `" ${nameOf(nth)} "`;
}

function inShell(nth: number, { literal, isWhole }: Spot): string | undefined {
  if (literal === "" || isWhole) return `"$${nth + 1}"`;
  return literal === '"' ? `$${nth + 1}` : undefined;
}

/** `inside`: how the language puts it into a literal with double quotes. */
const inLiteral =
  (reference: (nth: number) => string, inside: (reference: string) => string | undefined = () => undefined) =>
  (nth: number, { literal, isWhole }: Spot): string | undefined => {
    if (isWhole) return reference(nth);
    return literal === '"' ? inside(reference(nth)) : undefined;
  };

const REWRITES: Readonly<Record<Language, Rewrite>> = {
  jq: byOption((name, value, isText) => `--arg${isText ? "" : "json"} ${name} "${value}" `, inJq),
  awk: byOption((name, value) => `-v ${name}="${value}" `, inAwk),
  shell: byArgument("-c", inShell, { zeroth: " _" }),
  python: byArgument(
    "-c",
    inLiteral((nth) => `sys.argv[${nth + 1}]`),
    { first: "import sys; ", zeroth: "" },
  ),
  perl: byArgument(
    "-e",
    inLiteral(
      (nth) => `$ARGV[${nth}]`,
      (reference) => reference,
    ),
  ),
  ruby: byArgument(
    "-e",
    inLiteral(
      (nth) => `ARGV[${nth}]`,
      (reference) => `#{${reference}}`,
    ),
  ),
  node: byArgument(
    "-e",
    inLiteral((nth) => `process.argv[${nth + 1}]`),
  ),
  php: byArgument(
    "-r",
    inLiteral(
      (nth) => `$argv[${nth + 1}]`,
      (reference) => `{${reference}}`,
    ),
  ),
  evaluated: quotedForShell,
  psql,
  sed,
  sequence,
};
