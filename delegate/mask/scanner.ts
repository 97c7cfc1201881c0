/** Finds secrets in a stream of bytes. Positions count the bytes from the beginning of the stream. */
import type { Automaton } from "./automaton.ts";
import type { BlockReader } from "./fingerprints.ts";
import { BRACKET, BREAK, ESC, ESCAPE, isParameterByte, isFinal, KIND } from "./letters.ts";
import type { Matcher } from "./matcher.ts";
import { MIN_VALUE } from "./needles.ts";
import { createPositions, type Positions } from "./positions.ts";

/** More consecutive line breaks end an unfinished match. */
const MAX_BREAKS = 2;
/** At the end a beginning of so many bytes that is half of a secret is masked: the rest was cut off. */
const MIN_PARTIAL = 8;

/** `joins`: one of several blocks of a text; with its neighbour it is one. */
export type OnFound = (start: number, end: number, joins: boolean) => void;

export type Scanner = {
  readonly read: (bytes: Buffer, found: OnFound) => void;
  /** Ends the stream: a secret that was read for the most part counts. */
  readonly end: (found: OnFound) => void;
  /**
   * Where the longest beginning of a secret starts that the stream may complete; the position of the end for none.
   * `long`: only beginnings of at least 4 letters and a quarter of the secret.
   */
  readonly unfinished: (which: "any" | "long") => number;
  /** Frees positions before this one. */
  readonly forget: (before: number) => void;
  readonly copy: () => Scanner;
};

type State = {
  readonly automaton: Automaton;
  readonly blocks: BlockReader | undefined;
  readonly positions: Positions;
  readonly maxGap: number;
  node: number;
  /** Bytes passed over since the last letter. */
  between: number;
  /** Line breaks in a row. */
  breaks: number;
  /** Of a control sequence. An ESC that may begin one has no position yet. */
  escape: "no" | "begun" | "inside";
  /** Bytes of the control sequence after its beginning. */
  escapeLength: number;
};

export const createScanner = ({ automaton, fingerprints, maxGap }: Matcher): Scanner =>
  scannerFrom({
    automaton,
    blocks: fingerprints?.reader(),
    positions: createPositions(),
    maxGap,
    node: 0,
    between: 0,
    breaks: 0,
    escape: "no",
    escapeLength: 0,
  });

const scannerFrom = (state: State): Scanner => {
  const { positions, blocks } = state;
  return {
    read: (bytes, found) => read(state, bytes, found),
    end: (found) => {
      if (state.escape === "begun") readEsc(state, found);
      const { depth, shortest } = state.automaton;
      const node = unfinishedNode(state);
      const length = depth[node] ?? 0;
      if (length >= MIN_PARTIAL && length * 2 >= (shortest[node] ?? 0))
        found(positions.of(positions.letters() - length), positions.end(), false);
    },
    unfinished: (which) => {
      const { depth, fail } = state.automaton;
      let node = unfinishedNode(state);
      if (which === "long") while (node !== 0 && !isLong(state.automaton, node)) node = fail[node] ?? 0;
      const length = Math.max(depth[node] ?? 0, which === "any" ? (blocks?.unfinished() ?? 0) : 0);
      if (length > 0) return positions.of(positions.letters() - length);
      return positions.end() + (which === "long" && state.escape === "begun" ? 1 : 0);
    },
    forget: positions.forget,
    copy: () => scannerFrom({ ...state, positions: positions.copy(), blocks: blocks?.copy() }),
  };
};

function read(state: State, bytes: Uint8Array, found: OnFound): void {
  for (let at = 0; at < bytes.length;) {
    if (state.escape !== "no") {
      at = readEscape(state, bytes, at, found);
      continue;
    }
    at = readLetters(state, bytes, at, found);
    if (at === bytes.length) return;
    const kind = KIND[bytes[at] ?? 0];
    if (kind === ESCAPE) state.escape = "begun";
    else if (kind === BREAK) lineBreak(state);
    else passOver(state, 1);
    at += 1;
  }
}

/** Reads letters up to the next other byte; returns its index. Local variables make it three times as fast. */
function readLetters(state: State, bytes: Uint8Array, from: number, found: OnFound, all = false): number {
  const { byte, child, ends, fail, rowOf, rows } = state.automaton;
  const { positions } = state;
  const before = positions.letters();
  const end = positions.end();
  let now = state.node;
  let at = from;
  for (; at < bytes.length; at += 1) {
    const letter = bytes[at] ?? 0;
    if (KIND[letter] !== 0 && !all) break;
    for (;;) {
      const row = rowOf[now] ?? -1;
      if (row >= 0) {
        now = rows[row + letter] ?? 0;
        break;
      }
      const kid = child[now] ?? 0;
      if (kid > 0 && byte[kid] === letter) {
        now = kid;
        break;
      }
      now = fail[now] ?? 0;
    }
    const length = ends[now] ?? 0;
    if (length > 0) found(positions.of(before + at + 1 - from - length), end + at + 1 - from, false);
  }
  state.node = now;
  if (at === from) return at;
  state.breaks = 0;
  state.between = 0;
  positions.readLetters(at - from);
  state.blocks?.read(bytes, from, at, (last, length) =>
    found(positions.of(last - length), positions.of(last - 1) + 1, true),
  );
  return at;
}

function lineBreak(state: State): void {
  passOver(state, 1);
  state.breaks += 1;
  if (state.breaks > MAX_BREAKS) resetMatch(state);
}

/** Skips bytes. More than the maximum gap end an unfinished match, which would otherwise delay the output. */
function passOver(state: State, count: number): void {
  state.positions.passOver(count);
  state.between += count;
  if (state.between > state.maxGap) resetMatch(state);
}

function resetMatch(state: State): void {
  state.node = 0;
  state.blocks?.reset();
}

const ONE_ESC = Buffer.from([ESC]);

/** An ESC that begins no control sequence is a letter. */
function readEsc(state: State, found: OnFound): void {
  state.escape = "no";
  readLetters(state, ONE_ESC, 0, found, true);
}

/**
 * Reads inside of what may be a control sequence; answers where other bytes begin. One that is too long ends: letters
 * follow.
 */
function readEscape(state: State, bytes: Uint8Array, from: number, found: OnFound): number {
  if (state.escape === "begun") {
    if (bytes[from] !== BRACKET) {
      readEsc(state, found);
      return from;
    }
    state.escape = "inside";
    state.escapeLength = 0;
    passOver(state, 2);
    return from + 1;
  }
  let at = from;
  const most = from + state.maxGap - state.escapeLength;
  while (at < bytes.length && at < most && isParameterByte(bytes[at] ?? 0)) at += 1;
  if (at === most) state.escape = "no";
  else if (at < bytes.length) {
    state.escape = "no";
    if (isFinal(bytes[at] ?? 0)) at += 1;
  }
  state.escapeLength += at - from;
  passOver(state, at - from);
  return at;
}

/** The longest suffix of the read letters that a secret continues. */
function unfinishedNode({ automaton: { child, fail }, node }: State): number {
  let longest = node;
  while (longest !== 0 && child[longest] === 0) longest = fail[longest] ?? 0;
  return longest;
}

const isLong = ({ depth, shortest }: Automaton, node: number): boolean =>
  (depth[node] ?? 0) >= Math.max(MIN_VALUE, Math.ceil((shortest[node] ?? 0) / 4));
