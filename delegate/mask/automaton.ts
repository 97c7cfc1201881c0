/**
 * Searches for many texts in one pass (Aho and Corasick, 1975): a state is the
 * longest suffix of the read bytes that is a prefix of a text.
 *
 * Nodes are numbers into flat arrays, 29 bytes each. Most have one
 * child, which is compared; those with more have a row with the next state for
 * each byte.
 */
export type Automaton = {
  /** Bytes that the state has of a needle. */
  readonly depth: Int32Array;
  /** Length of the longest needle that ends in the state; 0 when none does. */
  readonly ends: Int32Array;
  /** Length of the shortest needle that goes through the state. */
  readonly shortest: Int32Array;
  /** The state for the next shorter suffix. */
  readonly fail: Int32Array;
  /** First child; 0 if no needle continues. */
  readonly child: Int32Array;
  /** Length of the longest needle. */
  readonly longest: number;
  /** Where the state's row begins in `rows`, -1 for none. */
  readonly rowOf: Int32Array;
  readonly rows: Int32Array;
  readonly byte: Uint8Array;
};

type Trie = {
  readonly byte: Uint8Array;
  readonly child: Int32Array;
  readonly sibling: Int32Array;
  readonly depth: Int32Array;
  readonly ends: Int32Array;
  readonly shortest: Int32Array;
  size: number;
};

const ROW = 256;
/** Seven numbers of four bytes, and the byte. */
const NODE_BYTES = 29;
/** Nodes between two pauses: a few milliseconds. */
const STRIDE = 32 * 1024;

/** Bytes of memory that the automaton of these needles takes at most. */
export const automatonBytes = (needles: readonly string[]): number =>
  needles.reduce((sum, needle) => sum + needle.length * NODE_BYTES + ROW * 4, NODE_BYTES + ROW * 4);

/**
 * Pauses after each STRIDE of nodes, so that the caller can let other work run.
 * @param needles byte texts (latin1), none empty
 */
export function* buildAutomaton(needles: readonly string[]): Generator<void, Automaton> {
  const trie = newTrie(needles.reduce((sum, needle) => sum + needle.length, 1));
  let done = 0;
  for (const needle of needles) {
    insert(trie, needle);
    done += needle.length;
    if (done < STRIDE) continue;
    done = 0;
    yield;
  }
  const states = yield* linkStates(trie);
  const longest = needles.reduce((most, needle) => Math.max(most, needle.length), 0);
  return { ...states, longest };
}

/** A trie and the links between its states. */
type States = Trie & Pick<Automaton, "fail" | "rowOf" | "rows">;

/** Links the states breadth first: states of shorter texts are complete before longer ones need them. */
function* linkStates(trie: Trie): Generator<void, States> {
  const { child, sibling, byte, ends, size } = trie;
  const fail = new Int32Array(size);
  const states = { ...trie, fail, rowOf: new Int32Array(size).fill(-1), rows: rowsFor(trie) };
  const queue = new Int32Array(size);
  let queued = 1;
  let filled = 0;
  for (let at = 0; at < queued; at += 1) {
    if (at % STRIDE === STRIDE - 1) yield;
    const state = queue[at] ?? 0;
    const back = fail[state] ?? 0;
    if (ends[state] === 0) ends[state] = ends[back] ?? 0;
    for (let kid = child[state] ?? 0; kid > 0; kid = sibling[kid] ?? 0) {
      fail[kid] = state === 0 ? 0 : nextState(states, back, byte[kid] ?? 0);
      queue[queued] = kid;
      queued += 1;
    }
    if (!branches(trie, state)) continue;
    fillRow(states, state, filled);
    filled += ROW;
  }
  return states;
}

const branches = ({ child, sibling }: Trie, state: number): boolean =>
  state === 0 || (sibling[child[state] ?? 0] ?? 0) > 0;

function rowsFor(trie: Trie): Int32Array {
  let many = 0;
  for (let state = 0; state < trie.size; state += 1) if (branches(trie, state)) many += 1;
  return new Int32Array(many * ROW);
}

function fillRow(states: States, state: number, from: number): void {
  const { child, sibling, byte, fail, rows, rowOf } = states;
  const back = fail[state] ?? 0;
  if (state > 0) for (let wanted = 0; wanted < ROW; wanted += 1) rows[from + wanted] = nextState(states, back, wanted);
  for (let kid = child[state] ?? 0; kid > 0; kid = sibling[kid] ?? 0) rows[from + (byte[kid] ?? 0)] = kid;
  rowOf[state] = from;
}

function nextState({ child, byte, rowOf, rows, fail }: States, from: number, wanted: number): number {
  for (let state = from; ; state = fail[state] ?? 0) {
    const row = rowOf[state] ?? -1;
    if (row >= 0) return rows[row + wanted] ?? 0;
    const kid = child[state] ?? 0;
    if (kid > 0 && byte[kid] === wanted) return kid;
  }
}

function newTrie(most: number): Trie {
  return {
    byte: new Uint8Array(most),
    child: new Int32Array(most),
    sibling: new Int32Array(most),
    depth: new Int32Array(most),
    ends: new Int32Array(most),
    shortest: new Int32Array(most),
    size: 1,
  };
}

function insert(trie: Trie, needle: string): void {
  const { byte, child, sibling, depth, shortest } = trie;
  let state = 0;
  for (let at = 0; at < needle.length; at += 1) {
    const wanted = needle.charCodeAt(at);
    let kid = child[state] ?? 0;
    while (kid > 0 && byte[kid] !== wanted) kid = sibling[kid] ?? 0;
    if (kid === 0) {
      kid = trie.size;
      trie.size += 1;
      byte[kid] = wanted;
      sibling[kid] = child[state] ?? 0;
      child[state] = kid;
      depth[kid] = at + 1;
      shortest[kid] = needle.length;
    } else shortest[kid] = Math.min(shortest[kid] ?? 0, needle.length);
    state = kid;
  }
  trie.ends[state] = needle.length;
}
