/**
 * A step's output on its way out. Without secrets that is the file that the
 * step writes, byte for byte. With them it is a second file, `masked`, made from
 * the first as it grows; the shipper sends that one, by its offsets, and knows
 * nothing of masks (docs/decisions/0014-masked-output.md).
 *
 * Beside it stands how far both have come. It is written after the masked bytes
 * and before any of them is sent: what is longer after a kill -9 was never sent.
 */
import { closeSync, constants, openSync, readFileSync, truncateSync, writeSync } from "node:fs";
import { codeOf } from "../fault.ts";
import { createMasker, type Masker } from "../mask/masker.ts";
import type { Matcher } from "../mask/matcher.ts";
import { readSlice, type Slice } from "./slice.ts";
import { ADDED, paths } from "../task-folder/paths.ts";
import type { Timers } from "../timers.ts";

export type Output = {
  /** What is shipped. */
  readonly file: string;
  /** Brings it up to what the step has written, as far as that may go out. */
  readonly advance: () => void;
  /** Nothing more is written: the rest as well. */
  readonly finish: () => Promise<void>;
  readonly stop: () => void;
};

export const createPlainOutput = (folder: string): Output => ({
  file: paths(folder).output,
  advance: () => {},
  finish: () => Promise.resolve(),
  stop: () => {},
});

/** How long the beginning of a secret may keep output back. */
const MAX_DELAY_MS = 100;
/** Bytes masked in one go; other tasks want their turn. */
const MAX_BATCH = 256 * 1024;

type Deps = {
  readonly timers: Timers;
  /** Something new may go out. */
  readonly changed: () => void;
};

/** @param matcher perhaps still to come: until then nothing goes out */
export function createMaskedOutput(
  folder: string,
  matcher: Matcher | Promise<Matcher>,
  { timers, changed }: Deps,
): Output {
  const at = paths(folder);
  let { read, length } = readProgress(folder);
  let masker: Masker | undefined;
  let ready: Matcher | undefined;
  let consumed = read;
  let addedLines = 0;
  /** When bytes up to a position came, of those that may still have to wait. */
  let arrivals: { readonly end: number; readonly at: number }[] = [];
  let stopHold: (() => void) | undefined;
  let stopTurn: (() => void) | undefined;
  let isDue = false;
  let isOver = false;
  let isStopped = false;

  const start = (made: Matcher): void => {
    ready = made;
    masker = createMasker(made, readContext(at.output, read, made.longest));
  };

  const appendMasked = ({ pending }: Masker, bytes: Buffer): void => {
    const decided = read - pending();
    if (decided === consumed) return;
    append(at.masked, bytes);
    length += bytes.length;
    consumed = decided;
    writeProgress(at.maskedTo, consumed, length);
  };

  /** False when everything has been read. */
  const maskNext = (): boolean => {
    const slice = readSlice(at.output, read);
    if (slice.bytes.length === 0 || !masker || !ready) return false;
    const { starts, end } = findAddedLines(slice, MAX_ADDED - addedLines);
    addedLines += starts.length;
    const { out, last } = pushParts(masker, ready, slice.bytes.subarray(0, end), starts);
    masker = last;
    read += end;
    arrivals.push({ end: read, at: timers.elapsed() });
    appendMasked(masker, out);
    return true;
  };

  const scheduleRelease = (): void => {
    arrivals = arrivals.filter(({ end }) => end > consumed);
    const oldest = arrivals[0];
    stopHold?.();
    stopHold = oldest && timers.after(Math.max(0, oldest.at + MAX_DELAY_MS - timers.elapsed()), release);
  };

  const release = (): void => {
    stopHold = undefined;
    isDue = true;
    changed();
  };

  if ("automaton" in matcher) start(matcher);
  else
    matcher.then(
      (made) => {
        if (isOver || isStopped) return;
        start(made);
        changed();
      },
      // The caller of `finish` gets the error.
      () => {},
    );

  return {
    file: at.masked,
    advance: () => {
      if (isOver || !masker) return;
      if (isDue) {
        isDue = false;
        // What still waits then is more than a beginning, and waits for what follows.
        arrivals = [];
        appendMasked(masker, masker.release());
      }
      const end = read + MAX_BATCH;
      let isMore = true;
      while (isMore && read < end) isMore = maskNext();
      scheduleRelease();
      if (isMore)
        stopTurn ??= timers.after(0, () => {
          stopTurn = undefined;
          changed();
        });
    },
    finish: async () => {
      isOver = true;
      stopHold?.();
      stopTurn?.();
      if (!masker) start(await matcher);
      for (let turn = read + MAX_BATCH; maskNext();) {
        if (read < turn) continue;
        turn = read + MAX_BATCH;
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (masker) appendMasked(masker, masker.end());
    },
    stop: () => {
      isStopped = true;
      stopHold?.();
      stopTurn?.();
    },
  };
}

/** Lines that count as added: a step that prints them again and again must not cost a masker for each. */
const MAX_ADDED = 1_000;
const ADDED_LINES = Object.values(ADDED).map((line) => Buffer.from(line));
const LONGEST_ADDED = Math.max(...ADDED_LINES.map(({ length }) => length));

/**
 * Where added lines begin, at most `most` of them, and where to stop: before a place where one may begin at the end of a
 * slice that is not the last. Each byte is searched once, however many such lines a step prints.
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

/** What a step has printed ends before each added line: what it has begun does not count as refuted by the line. */
function pushParts(first: Masker, matcher: Matcher, bytes: Buffer, starts: readonly number[]) {
  const out: Buffer[] = [];
  let last = first;
  let from = 0;
  for (const start of starts) {
    out.push(last.push(bytes.subarray(from, start)), last.end());
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

/** Of a task whose masks are not known any more: what was masked before, and no more. */
export function createWithheldOutput(folder: string): Output {
  const at = paths(folder);
  return {
    file: at.masked,
    advance: () => {},
    finish: async () => {
      const { read, length } = readProgress(folder);
      const { available } = readSlice(at.output, read);
      if (available === 0) return;
      const line = Buffer.from(
        `railhead: ${available} bytes of output are withheld: after a restart of the machine it is not known any more which secrets they may hold\n`,
      );
      append(at.masked, line);
      writeProgress(at.maskedTo, read + available, length + line.length);
    },
    stop: () => {},
  };
}

/** Where an earlier delegate stopped; what it had not noted is cut off. */
function readProgress(folder: string): { readonly read: number; readonly length: number } {
  const at = paths(folder);
  const [read = 0, length = 0] = textIn(at.maskedTo).split(" ").filter(Boolean).map(Number);
  try {
    truncateSync(at.masked, length);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  return { read, length };
}

function textIn(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "";
    throw error;
  }
}

/** A line of numbers that is not whole yet, and its like. */
const CONTEXT_EXTRA = 8 * 1024;

/** Enough to tell which secret may have begun before `end`: two line breaks may stand between any two of its bytes. */
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

function append(file: string, bytes: Buffer): void {
  const fd = openSync(file, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  try {
    for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
  } finally {
    closeSync(fd);
  }
}

/** One write of always the same length: whole or not at all. */
function writeProgress(file: string, read: number, length: number): void {
  const fd = openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  try {
    writeSync(fd, `${String(read).padStart(16)} ${String(length).padStart(16)}`, 0);
  } finally {
    closeSync(fd);
  }
}
