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
  const runs = createRuns(matcher, found);
  let run: Run | undefined;
  /** The incomplete line, and its position in the output. */
  let line = "";
  let lineAt = 0;

  const takeLines = (text: string): void => {
    for (let from = 0; from < text.length;) {
      if (!run) {
        CANDIDATE.lastIndex = from;
        const candidate = CANDIDATE.exec(text);
        if (!candidate) return;
        from = text.lastIndexOf("\n", candidate.index) + 1;
      }
      const newline = text.indexOf("\n", from);
      const end = newline < 0 ? text.length : newline;
      run = runs.takeLine(run, text.slice(from, end).replace(/\r$/, ""), lineAt + from);
      from = end + 1;
    }
  };

  /** The run after the incomplete line; the rest of the line may change it. */
  const runAfter = (text: string): Run | undefined =>
    text === "" ? run : runs.takeBeginning(run && copyOf(run), text, lineAt);

  return {
    read: (bytes) => {
      const text = line + bytes.toString("latin1");
      const whole = text.lastIndexOf("\n") + 1;
      takeLines(text.slice(0, whole));
      line = text.slice(whole);
      lineAt += whole;
      while (line.length > MAX_LINE) {
        const cut = findOpenToken(line.slice(0, MAX_LINE)) || MAX_LINE;
        takeLines(line.slice(0, cut));
        line = line.slice(cut);
        lineAt += cut;
      }
    },
    end: () => {
      takeLines(line);
      line = "";
      if (run) runs.end(run);
    },
    unfinished: (which) => {
      const end = lineAt + line.length;
      if (line !== "" && mayBecomeDump(line)) {
        const isHeld = which === "any" || parseDumpLine(line).some(({ bytes }) => bytes.length >= MIN_VALUE);
        return Math.min(unfinishedIn(run, which, end), isHeld ? lineAt : end);
      }
      const known = which === "any" ? findOpenToken(line) : line.length;
      return Math.min(unfinishedIn(runAfter(line.slice(0, known)), which, end), lineAt + known);
    },
    forget: (before) => {
      if (run) forgetBytes(run, before);
    },
  };
}

/** Reads lines into runs. */
type Runs = {
  /**
   * Returns the run that continues after the line.
   * @param at position of the line in the output
   */
  readonly takeLine: (before: Run | undefined, text: string, at: number) => Run | undefined;
  /** Returns the run that continues after the beginning of a line, which may have no bytes yet. */
  readonly takeBeginning: (before: Run | undefined, text: string, at: number) => Run | undefined;
  /** The output ends after the run. */
  readonly end: (run: Run) => void;
};

function createRuns(matcher: Matcher, found: OnFound): Runs {
  const newRun = (): Run => ({ scanner: createScanner(matcher), from: [], to: [], first: 0, repeats: 0 });

  const foundIn =
    ({ from, to, first }: Run): OnFound =>
    (start, end, joins) =>
      found(from[Math.max(0, start - first)] ?? 0, to[end - 1 - first] ?? 0, joins);

  const feed = (to: Run, dumped: DumpedBytes, at: number): void => {
    for (const place of dumped.from) to.from.push(at + place);
    for (const place of dumped.to) to.to.push(at + place);
    to.repeats = 0;
    to.scanner.read(Buffer.from(dumped.bytes), foundIn(to));
  };

  /** @param all at least one */
  const feedAll = (before: Run | undefined, all: readonly DumpedBytes[], at: number): Run | undefined => {
    let now = before;
    let isOpen = true;
    for (const dumped of all) {
      if (!dumped.continues || !now) now = newRun();
      feed(now, dumped, at);
      isOpen = dumped.continuesAfter;
    }
    return isOpen ? now : undefined;
  };

  return {
    takeLine: (before, text, at) => {
      if (text === REPEAT) return afterRepeat(before);
      const all = parseDumpLine(text);
      return all.length === 0 ? undefined : feedAll(before, all, at);
    },
    takeBeginning: (before, text, at) => {
      if (text === REPEAT) return afterRepeat(before);
      const all = parseDumpLine(text);
      if (all.length > 0) return feedAll(before, all, at);
      return mayBecomeDump(text) || isSeparator(text) ? before : undefined;
    },
    end: (run) => run.scanner.end(foundIn(run)),
  };
}

/** `hexdump` writes one such line in place of all lines that are the same as the one before. */
const REPEAT = "*";

/** Ends the run at a second such line in a row. `hexdump` writes only one, and output would wait for what follows. */
function afterRepeat(run: Run | undefined): Run | undefined {
  if (run) run.repeats += 1;
  return run?.repeats === 1 ? run : undefined;
}

const copyOf = ({ scanner, from, to, first, repeats }: Run): Run => ({
  scanner: scanner.copy(),
  from: from.slice(),
  to: to.slice(),
  first,
  repeats,
});

const unfinishedIn = (run: Run | undefined, which: "any" | "long", otherwise: number): number =>
  run ? (run.from[Math.max(0, run.scanner.unfinished(which) - run.first)] ?? otherwise) : otherwise;

/** Frees the positions of bytes before this position of the output, many at once. */
function forgetBytes(run: Run, before: number): void {
  let many = 0;
  while (many < run.to.length && (run.to[many] ?? 0) <= before) many += 1;
  if (many < 4096) return;
  run.first += many;
  run.from.splice(0, many);
  run.to.splice(0, many);
  run.scanner.forget(run.first);
}
