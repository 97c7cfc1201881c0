/**
 * Reads that are asked for in the same turn of the event loop share a connection and leave in one write; each is
 * answered on its own. Lending a connection and writing to its socket take more of the processor than all else that a
 * short list needs (decision 0016).
 */
import type { AskFor, LentTo } from "./lent.ts";

/** One waits for so many others at most: on a connection, statements are answered in their order. */
const AT_MOST = 8;

type Turn = {
  readonly lent: Promise<LentTo>;
  asked: number;
  unanswered: number;
  /** Nothing is added any more. */
  closed: boolean;
  /** The connection is not lent again. */
  lost: boolean;
};

/** Only for statements that wait for no lock. `isLost` says of an error that its connection is lost. */
export function readTogether(lend: () => Promise<LentTo>, isLost: (error: unknown) => boolean): AskFor {
  let open: Turn | undefined;

  const begin = (): Turn => {
    const turn: Turn = { lent: lend(), asked: 0, unanswered: 0, closed: false, lost: false };
    const close = (): void => {
      turn.closed = true;
      if (open === turn) open = undefined;
    };
    turn.lent.then((lent) => {
      const send = held(lent);
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

/** Keeps back what is written to the connection; answers how to send it. */
function held({ client }: LentTo): () => void {
  const { stream } = (client as unknown as Inner).connection;
  stream.cork();
  return () => stream.uncork();
}

/** What the driver's types leave out. */
type Inner = { readonly connection: { readonly stream: { readonly cork: () => void; readonly uncork: () => void } } };
