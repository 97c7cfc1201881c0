/** Looks for secrets in the bytes that `od`, `hexdump`, `xxd` and their like have written as numbers. */
import { CANDIDATE, type DumpedBytes, parseDumpLine, isSeparator, mayBecomeDump, findOpenToken } from "./dump-lines.ts";
import type { Matcher } from "../matcher.ts";
import { MIN_VALUE } from "../needles.ts";
import { type OnFound, createScanner, type Scanner } from "../scanner.ts";

/** A longer line is read in pieces. */
const MAX_LINE = 4096;

export type Dumps = {
  readonly read: (bytes: Buffer) => void;
  /** Ends the output. */
  readonly end: () => void;
  /** As `Scanner.unfinished`, in positions of the output. */
  readonly unfinished: (which: "any" | "long") => number;
  readonly forget: (before: number) => void;
};

/** The bytes in consecutive lines of a dump, and the position of each in the output. */
type Run = {
  readonly scanner: Scanner;
  readonly from: number[];
  readonly to: number[];
  first: number;
  repeats: number;
};

export function createDumps(matcher: Matcher, found: OnFound): Dumps {
  let run: Run | undefined;
  let line = "";
  let lineAt = 0;

  const newRun = (): Run => ({ scanner: createScanner(matcher), from: [], to: [], first: 0, repeats: 0 });

  const feed = (to: Run, dumped: DumpedBytes, at: number): void => {
    for (const place of dumped.from) to.from.push(at + place);
    for (const place of dumped.to) to.to.push(at + place);
    to.repeats = 0;
    to.scanner.read(Buffer.from(dumped.bytes), foundIn(to));
  };

  const foundIn =
    ({ from, to, first }: Run): OnFound =>
    (start, end, joins) =>
      found(from[Math.max(0, start - first)] ?? 0, to[end - 1 - first] ?? 0, joins);

  /** Returns the run that continues after the line or its beginning. */
  const takeLine = (before: Run | undefined, text: string, at: number, isWhole = true): Run | undefined => {
    // Between lines of `hexdump` that are the same; there is one of them. More would keep back what was begun.
    if (text === "*") {
      if (before) before.repeats += 1;
      return before?.repeats === 1 ? before : undefined;
    }
    let now = before;
    let isOpen = true;
    const all = parseDumpLine(text);
    for (const dumped of all) {
      if (!dumped.continues || !now) now = newRun();
      feed(now, dumped, at);
      isOpen = dumped.continuesAfter;
    }
    if (all.length === 0) return !isWhole && (mayBecomeDump(text) || isSeparator(text)) ? before : undefined;
    return isOpen ? now : undefined;
  };

  const takeLines = (text: string, at: number): void => {
    for (let from = 0; from < text.length;) {
      if (!run) {
        CANDIDATE.lastIndex = from;
        const candidate = CANDIDATE.exec(text);
        if (!candidate) return;
        from = text.lastIndexOf("\n", candidate.index) + 1;
      }
      const newline = text.indexOf("\n", from);
      const end = newline < 0 ? text.length : newline;
      run = takeLine(run, text.slice(from, end).replace(/\r$/, ""), at + from);
      from = end + 1;
    }
  };

  const copyOf = ({ scanner, from, to, first, repeats }: Run): Run => ({
    scanner: scanner.copy(),
    from: from.slice(),
    to: to.slice(),
    first,
    repeats,
  });

  const unfinishedIn = (of: Run | undefined, which: "any" | "long", otherwise: number): number =>
    of ? (of.from[Math.max(0, of.scanner.unfinished(which) - of.first)] ?? otherwise) : otherwise;

  /** The run after the incomplete line; the rest of the line may change it. */
  const runAfter = (text: string): Run | undefined =>
    text === "" ? run : takeLine(run && copyOf(run), text, lineAt, false);

  const unfinished = (which: "any" | "long"): number => {
    const end = lineAt + line.length;
    if (line !== "" && mayBecomeDump(line)) {
      const isHeld = which === "any" || parseDumpLine(line).some(({ bytes }) => bytes.length >= MIN_VALUE);
      return Math.min(unfinishedIn(run, which, end), isHeld ? lineAt : end);
    }
    const known = which === "any" ? findOpenToken(line) : line.length;
    return Math.min(unfinishedIn(runAfter(line.slice(0, known)), which, end), lineAt + known);
  };

  return {
    read: (bytes) => {
      const text = line + bytes.toString("latin1");
      const whole = text.lastIndexOf("\n") + 1;
      takeLines(text.slice(0, whole), lineAt);
      line = text.slice(whole);
      lineAt += whole;
      while (line.length > MAX_LINE) {
        const cut = findOpenToken(line.slice(0, MAX_LINE)) || MAX_LINE;
        takeLines(line.slice(0, cut), lineAt);
        line = line.slice(cut);
        lineAt += cut;
      }
    },
    end: () => {
      takeLines(line, lineAt);
      line = "";
      run?.scanner.end(foundIn(run));
    },
    unfinished,
    forget: (before) => {
      if (!run) return;
      let many = 0;
      while (many < run.to.length && (run.to[many] ?? 0) <= before) many += 1;
      if (many < 4096) return;
      run.first += many;
      run.from.splice(0, many);
      run.to.splice(0, many);
      run.scanner.forget(run.first);
    },
  };
}
