/**
 * The output file that is sent. Without secrets it is the file that the step writes. With secrets it is a second file,
 * `masked` (masked-file.ts), which this file writes while the first one grows (docs/decisions/0014-masked-output.md).
 * output-channel.ts drives it: `advance` when the step has written, `finish` after its end. The shipper sends either file
 * by offsets and does not know about masks.
 */
import { createMasker, type Masker } from "../mask/masker.ts";
import type { Matcher } from "../mask/matcher.ts";
import { openMaskedFile } from "./masked-file.ts";
import { readSlice, type Slice } from "./slice.ts";
import { ADDED, paths } from "../task-folder/paths.ts";
import type { Timers } from "../timers.ts";

export type Output = {
  /** Path of the file to send. */
  readonly file: string;
  /** Masks new output of the step, except bytes that may begin a secret. */
  readonly advance: () => void;
  /** Masks the rest after the step has ended. */
  readonly finish: () => Promise<void>;
  readonly stop: () => void;
};

export const createPlainOutput = (folder: string): Output => ({
  file: paths(folder).output,
  advance: () => {},
  finish: () => Promise.resolve(),
  stop: () => {},
});

/** How long the beginning of a secret may delay output. */
const MAX_DELAY_MS = 100;
/** Bytes masked without a pause for other tasks. */
const MAX_BATCH = 256 * 1024;

export type OutputDeps = {
  readonly timers: Timers;
  /** Called when new masked output is available. */
  readonly changed: () => void;
  /** Whether bytes are missing after the last one in the file: then no beginning of a secret at its end is shown. */
  readonly isTorn: () => boolean;
};

/** Output that is masked while the step writes it. */
type MaskedOutput = {
  readonly deps: OutputDeps;
  readonly cursor: Cursor;
  /** Arrival times of bytes that may have to wait. */
  arrivals: { readonly end: number; readonly at: number }[];
  stopHold: (() => void) | undefined;
  stopTurn: (() => void) | undefined;
  isDue: boolean;
  isOver: boolean;
  isStopped: boolean;
};

/** @param matcher or its promise; until it resolves, nothing is masked or sent */
export function createMaskedOutput(folder: string, matcher: Matcher | Promise<Matcher>, deps: OutputDeps): Output {
  const output: MaskedOutput = {
    deps,
    cursor: createCursor(folder),
    arrivals: [],
    stopHold: undefined,
    stopTurn: undefined,
    isDue: false,
    isOver: false,
    isStopped: false,
  };
  if ("automaton" in matcher) output.cursor.start(matcher);
  else
    matcher.then(
      (made) => {
        if (output.isOver || output.isStopped) return;
        output.cursor.start(made);
        deps.changed();
      },
      // The caller of `finish` gets the error.
      () => {},
    );
  return {
    file: paths(folder).masked,
    advance: () => advance(output),
    finish: () => finish(output, matcher),
    stop: () => {
      output.isStopped = true;
      output.stopHold?.();
      output.stopTurn?.();
    },
  };
}

function advance(output: MaskedOutput): void {
  const { cursor, deps } = output;
  if (output.isOver || !cursor.isReady()) return;
  if (output.isDue) {
    output.isDue = false;
    // Bytes that still wait are a long beginning and wait for more output.
    output.arrivals = [];
    if (!deps.isTorn()) cursor.release();
  }
  const end = cursor.read() + MAX_BATCH;
  let isMore = true;
  while (isMore && cursor.read() < end) isMore = maskNext(output);
  scheduleRelease(output);
  if (isMore)
    output.stopTurn ??= deps.timers.after(0, () => {
      output.stopTurn = undefined;
      deps.changed();
    });
}

function maskNext({ cursor, arrivals, deps }: MaskedOutput): boolean {
  const isMore = cursor.maskNext();
  if (isMore) arrivals.push({ end: cursor.read(), at: deps.timers.elapsed() });
  return isMore;
}

function scheduleRelease(output: MaskedOutput): void {
  const { timers } = output.deps;
  output.arrivals = output.arrivals.filter(({ end }) => end > output.cursor.consumed());
  const oldest = output.arrivals[0];
  output.stopHold?.();
  output.stopHold =
    oldest && timers.after(Math.max(0, oldest.at + MAX_DELAY_MS - timers.elapsed()), () => release(output));
}

function release(output: MaskedOutput): void {
  output.stopHold = undefined;
  output.isDue = true;
  output.deps.changed();
}

async function finish(output: MaskedOutput, matcher: Matcher | Promise<Matcher>): Promise<void> {
  const { cursor, deps } = output;
  output.isOver = true;
  output.stopHold?.();
  output.stopTurn?.();
  if (!cursor.isReady()) cursor.start(await matcher);
  for (let turn = cursor.read() + MAX_BATCH; cursor.maskNext();) {
    if (cursor.read() < turn) continue;
    turn = cursor.read() + MAX_BATCH;
    await new Promise((resolve) => setImmediate(resolve));
  }
  cursor.end(deps.isTorn());
}

type Cursor = ReturnType<typeof createCursor>;

/**
 * Masks the step's output in its order. After a failed write it continues as the next delegate would: nothing is left
 * out.
 */
function createCursor(folder: string) {
  const at = paths(folder);
  const maskedFile = openMaskedFile(folder);
  let read = maskedFile.consumed();
  let masker: Masker | undefined;
  let ready: Matcher | undefined;
  let addedLines = 0;
  /** A write has failed, and the progress has not been restored. */
  let mustResume = false;

  const start = (made: Matcher): void => {
    ready = made;
    masker = createMasker(made, readContext(at.output, read, made.longest));
  };

  const resume = (): void => {
    maskedFile.restore();
    read = maskedFile.consumed();
    addedLines = 0;
    if (ready) start(ready);
    mustResume = false;
  };

  const append = ({ pending }: Masker, bytes: Buffer): void => {
    const decided = read - pending();
    if (decided === maskedFile.consumed()) return;
    try {
      maskedFile.append(bytes, decided);
    } catch (error) {
      mustResume = true;
      resume();
      throw error;
    }
  };

  return {
    start,
    isReady: () => masker !== undefined,
    read: () => read,
    consumed: maskedFile.consumed,
    /** Masks the next slice. False: everything has been read. */
    maskNext: (): boolean => {
      if (mustResume) resume();
      const slice = readSlice(at.output, read);
      if (slice.bytes.length === 0 || !masker || !ready) return false;
      const { starts, end } = findAddedLines(slice, MAX_ADDED - addedLines);
      addedLines += starts.length;
      const { out, last } = pushParts(masker, ready, { bytes: slice.bytes.subarray(0, end), starts });
      masker = last;
      read += end;
      append(masker, out);
      return true;
    },
    /** Appends the beginnings of secrets that have waited. */
    release: () => {
      if (!mustResume && masker) append(masker, masker.release());
    },
    /** Appends the rest. Everything has been read. */
    end: (isTorn: boolean) => {
      if (masker) append(masker, masker.end(isTorn));
    },
  };
}

/** Maximum of lines that count as added: each costs a masker, and a step can print them, too. */
const MAX_ADDED = 1_000;
const CUT_LINE = Buffer.from(ADDED.cut);
const ADDED_LINES = Object.values(ADDED).map((line) => Buffer.from(line));
const LONGEST_ADDED = Math.max(...ADDED_LINES.map(({ length }) => length));

/**
 * Where added lines begin, at most `most` of them, and where to stop: before a place where one may begin at the end of
 * a slice that is not the last. Each byte is searched once, however many such lines a step prints.
 */
function findAddedLines(
  { bytes, available }: Slice,
  most: number,
): { readonly starts: readonly number[]; readonly end: number } {
  const starts = ADDED_LINES.flatMap((line) => findAll(line, bytes, most))
    .toSorted((one, other) => one - other)
    .slice(0, most);
  if (available === bytes.length || starts.length === most) return { starts, end: bytes.length };
  const last = starts.at(-1) ?? 0;
  if (last > 0 && bytes.length - last <= LONGEST_ADDED) return { starts: starts.slice(0, -1), end: last };
  return { starts, end: bytes.length > LONGEST_ADDED ? bytes.length - LONGEST_ADDED : bytes.length };
}

/** `starts`: where added lines begin in the bytes. */
type OutputWithAddedLines = { readonly bytes: Buffer; readonly starts: readonly number[] };

/** Ends the step's output before each added line: the line does not disprove an unfinished secret. */
function pushParts(first: Masker, matcher: Matcher, { bytes, starts }: OutputWithAddedLines) {
  const out: Buffer[] = [];
  let last = first;
  let from = 0;
  for (const start of starts) {
    const isTorn = bytes.subarray(start, start + CUT_LINE.length).equals(CUT_LINE);
    out.push(last.push(bytes.subarray(from, start)), last.end(isTorn));
    last = createMasker(matcher);
    from = start;
  }
  out.push(last.push(bytes.subarray(from)));
  return { out: Buffer.concat(out), last };
}

function findAll(line: Buffer, bytes: Buffer, most: number): readonly number[] {
  const places: number[] = [];
  let place = most > 0 ? bytes.indexOf(line) : -1;
  for (; place >= 0 && places.length < most; place = bytes.indexOf(line, place + line.length)) places.push(place);
  return places;
}

/** Output of a task whose secrets are lost: only what was masked before. */
export function createWithheldOutput(folder: string): Output {
  const at = paths(folder);
  return {
    file: at.masked,
    advance: () => {},
    finish: async () => {
      const maskedFile = openMaskedFile(folder);
      const read = maskedFile.consumed();
      const { available } = readSlice(at.output, read);
      if (available === 0) return;
      const line = Buffer.from(
        `railhead: ${available} bytes of output are withheld: after a restart of the machine it is not known any more which secrets they may hold\n`,
      );
      maskedFile.append(line, read + available);
    },
    stop: () => {},
  };
}

/** Additional bytes of context, for example an incomplete line of a dump. */
const CONTEXT_EXTRA = 8 * 1024;

/**
 * Reads enough bytes before `end` to find an unfinished secret: two line breaks may lie between any two of its bytes.
 */
function readContext(file: string, end: number, longest: number): Buffer {
  const pieces: Buffer[] = [];
  for (let from = Math.max(0, end - 3 * longest - CONTEXT_EXTRA); from < end;) {
    const { bytes } = readSlice(file, from);
    if (bytes.length === 0) break;
    pieces.push(bytes.subarray(0, end - from));
    from += bytes.length;
  }
  return Buffer.concat(pieces);
}
