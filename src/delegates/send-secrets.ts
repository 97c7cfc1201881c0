import { MAX_SECRET_PIECE, type ToDelegate } from "../../protocol/messages.ts";
import { problem } from "./problems.ts";
import type { OpenedSecret, SecretUse } from "./task.ts";

/** What one variable of a process holds at most, on Linux; larger ones are not even sent. */
const MAX_VALUE = 128 * 1024 - 1;

type Lease = { readonly task: string; readonly epoch: number };

export type SendSecrets = {
  readonly to: {
    readonly holds: (order: Lease) => boolean;
    /** Whether its token still counts. */
    readonly stands: () => Promise<boolean>;
    readonly sent: (message: ToDelegate) => Promise<boolean>;
  };
  readonly order: Lease;
  readonly uses: readonly SecretUse[];
  /** In the same order. */
  readonly opened: readonly OpenedSecret[];
};

/**
 * Sends the secrets of a task that a delegate is about to get, one piece at a time: the next is opened when the last one has
 * left, and each secret only if the delegate's token still counts. False when it does not, or the delegate has hung up; stops as soon as it holds the task no more. Throws a Problem.
 */
export async function sendSecrets({ to, order, uses, opened }: SendSecrets): Promise<boolean> {
  for (const [nth, secret] of opened.entries()) {
    const { reference, as } = uses[nth] ?? { reference: "", as: "value" };
    if (as === "value" && secret.size > MAX_VALUE)
      throw problem("delegate.secret_too_large", [reference, String(secret.size), String(MAX_VALUE)]);
    if (!(await to.stands())) return false;
    for await (const { data, last } of pieces(secret)) {
      if (!to.holds(order)) return true;
      const { task, epoch } = order;
      const message: ToDelegate = { kind: "secret", task, epoch, nth, as, data: data.toString("base64"), last };
      data.fill(0);
      if (!(await to.sent(message))) return false;
    }
  }
  return true;
}

/** No larger than a message carries; which one is the last is known when the next one has not come. */
async function* pieces({ read }: OpenedSecret): AsyncGenerator<{ readonly data: Buffer; readonly last: boolean }> {
  let before: Buffer = Buffer.alloc(0);
  let isFirst = true;
  for await (const bytes of read()) {
    for (let from = 0; from < bytes.length; from += MAX_SECRET_PIECE) {
      if (!isFirst) yield { data: before, last: false };
      before = bytes.subarray(from, from + MAX_SECRET_PIECE);
      isFirst = false;
    }
  }
  yield { data: before, last: true };
}
