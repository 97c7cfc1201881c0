/**
 * Reads of the same turn of the event loop share a connection and one write to its socket; each gets its own answer.
 * Borrowing a connection and writing to its socket take more CPU than the rest of a short list (decision 0016).
 */
import { bufferWrites } from "./gather-writes.ts";
import type { AskFor, LentTo } from "./lent.ts";

/** Most statements that share a connection, because it answers them in order. */
const AT_MOST = 8;

type Turn = {
  readonly lent: Promise<LentTo>;
  asked: number;
  unanswered: number;
  /** True when no statement is added any more. */
  closed: boolean;
  /** True when the connection must not be reused. */
  lost: boolean;
};

/** Only for statements that wait for no lock. `isLost` tells whether an error means a lost connection. */
export function readTogether(lend: () => Promise<LentTo>, isLost: (error: unknown) => boolean): AskFor {
  let open: Turn | undefined;

  const begin = (): Turn => {
    const turn: Turn = { lent: lend(), asked: 0, unanswered: 0, closed: false, lost: false };
    const close = (): void => {
      turn.closed = true;
      if (open === turn) open = undefined;
    };
    turn.lent.then((lent) => {
      const send = bufferWrites(lent);
      setImmediate(() => {
        close();
        send();
        endIfAnswered(turn, lent);
      });
    }, close);
    return turn;
  };

  return async (text, values) => {
    const turn = (open ??= begin());
    turn.asked += 1;
    turn.unanswered += 1;
    if (turn.asked === AT_MOST) open = undefined;
    const lent = await turn.lent;
    try {
      return await lent.ask(text, values, "array");
    } catch (error) {
      turn.lost ||= isLost(error);
      throw error;
    } finally {
      turn.unanswered -= 1;
      endIfAnswered(turn, lent);
    }
  };
}

function endIfAnswered({ closed, unanswered, lost }: Turn, lent: LentTo): void {
  if (closed && unanswered === 0) lent.release(lost);
}
