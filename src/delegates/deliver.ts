import type { ToDelegate } from "../../protocol/messages.ts";
import type { Uuid } from "../core/ids.ts";
import type { Session } from "./sessions.ts";
import type { ReadSecrets, StoredConnectionTask, Work } from "./task.ts";

type Run = Omit<Extract<ToDelegate, { kind: "run" }>, "work">;
/** A task on its way to a delegate, its secrets still by name. */
type Sent = Extract<ToDelegate, { kind: "run" }>["work"];
export type Order = Run & { readonly work: Work };

/** The connection of the delegate that holds the task. */
type To = { readonly accountId: Uuid } & Pick<Session, "send" | "close">;

/**
 * Sends a task to the delegate that holds it; `unsent` is called when it has certainly not gone out. A script goes out
 * at once; secrets are read for this delegate now, and stand in nothing but the message. Where they cannot be read
 * the delegate connects anew, and gets the task again.
 */
export type Deliver = (to: To, order: Order, unsent?: () => void) => void;

export const makeDeliver =
  (deps: { readonly readSecrets: ReadSecrets; readonly onError: (error: unknown) => void }): Deliver =>
  (to, { work, ...order }, unsent) => {
    const send = (ready: Sent): void => {
      if (!to.send({ ...order, work: ready })) unsent?.();
    };
    if (work.kind === "shell") return send(work);
    withSecrets(deps.readSecrets, to.accountId, work).then(send, (error: unknown) => {
      deps.onError(error);
      to.close();
    });
  };

async function withSecrets(readSecrets: ReadSecrets, accountId: Uuid, task: StoredConnectionTask): Promise<Sent> {
  const { home, secrets, ...rest } = task;
  const values = secrets.length === 0 ? [] : await readSecrets(accountId, home, secrets);
  const readable = secrets.flatMap((reference, nth) => {
    const value = values[nth];
    return value === undefined ? [] : [{ reference, value }];
  });
  return { ...rest, secrets: readable };
}
