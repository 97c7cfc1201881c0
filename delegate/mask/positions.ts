/** Maps letters of a stream to their positions, including the skipped bytes between them. */
export type Positions = {
  /** Letters and other bytes read so far. */
  readonly end: () => number;
  readonly letters: () => number;
  readonly readLetters: (count: number) => void;
  readonly passOver: (count: number) => void;
  /** Of a letter, counted from the beginning of the stream. */
  readonly of: (letter: number) => number;
  /** Frees letters before this position. */
  readonly forget: (before: number) => void;
  readonly copy: () => Positions;
};

/** Entries that are not worth moving the others for. */
const MANY = 64;

type State = {
  letters: number;
  passed: number;
  /** For letters from `from[n]` on, `over[n]` bytes before them were passed over. */
  from: number[];
  over: number[];
};

export const createPositions = (): Positions => positionsFrom({ letters: 0, passed: 0, from: [0], over: [0] });

const positionsFrom = (state: State): Positions => ({
  end: () => state.letters + state.passed,
  letters: () => state.letters,
  readLetters: (count) => {
    state.letters += count;
  },
  passOver: (count) => {
    if (count === 0) return;
    state.passed += count;
    if (state.from.at(-1) === state.letters) state.over[state.over.length - 1] = state.passed;
    else {
      state.from.push(state.letters);
      state.over.push(state.passed);
    }
  },
  of: (letter) => {
    const { from, over } = state;
    let [low, high] = [0, from.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((from[middle] ?? 0) <= letter) low = middle;
      else high = middle - 1;
    }
    return letter + (over[low] ?? 0);
  },
  forget: (before) => {
    const { from, over } = state;
    let nth = 0;
    while (nth + 1 < from.length && (from[nth + 1] ?? 0) + (over[nth + 1] ?? 0) <= before) nth += 1;
    if (nth < MANY && nth + 1 < from.length) return;
    state.from = from.slice(nth);
    state.over = over.slice(nth);
  },
  copy: () => positionsFrom({ ...state, from: state.from.slice(), over: state.over.slice() }),
});
