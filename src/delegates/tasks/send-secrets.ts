/**
 * Opens the secrets of a task and sends them in chunks before the task itself. deliver.ts calls it with resolved
 * secrets.
 */
import { MAX_SECRET_CHUNK, type ToDelegate } from "../../../protocol/messages.ts";
import { problem } from "../problems.ts";
import type { ResolvedSecret, SecretUse } from "../task.ts";

/** Most bytes of one environment variable on Linux; larger values are not sent. */
const MAX_VALUE = 128 * 1024 - 1;

type Lease = { readonly task: string; readonly epoch: number };

export type SendSecrets = {
  readonly to: {
    readonly isLeased: (order: Lease) => boolean;
    /** Whether the token is still valid. */
    readonly verifyEntitlement: () => Promise<boolean>;
    readonly sendAndFlush: (message: ToDelegate) => Promise<boolean>;
  };
  readonly order: Lease;
  readonly uses: readonly SecretUse[];
  /** In the order of `uses`. */
  readonly resolved: readonly ResolvedSecret[];
  /** Called when all are open, before the first byte is sent. Throws a Problem unless they may be sent then. */
  readonly confirm: () => Promise<void>;
};

/**
 * Sends the secrets of a leased task. It opens all of them first, which may take seconds each; then `confirm`
 * decides. Each is sent only if the delegate's token is still valid, one chunk at a time: the next chunk is read when
 * the last one has left. Returns false when the token is not valid or the delegate has disconnected; stops when the
 * lease ends. Throws a Problem.
 */
export async function sendSecrets(sending: SendSecrets): Promise<boolean> {
  const { uses, resolved, confirm } = sending;
  requireSizes(uses, resolved);
  const opened: OpenedSecret[] = [];
  try {
    for (const secret of resolved) opened.push(await openSecret(secret));
    await confirm();
    return await sendAll(sending, opened);
  } finally {
    for (const { first, rest } of opened) {
      first.fill(0);
      await rest.return?.();
    }
  }
}

async function sendAll({ to, order, uses }: SendSecrets, opened: readonly OpenedSecret[]): Promise<boolean> {
  for (const [nth, secret] of opened.entries()) {
    if (!(await to.verifyEntitlement())) return false;
    const as = uses[nth]?.as ?? "value";
    for await (const { data, last } of chunksOf(secret)) {
      if (!to.isLeased(order)) return true;
      const { task, epoch } = order;
      const message: ToDelegate = { kind: "secret", task, epoch, nth, as, data: data.toString("base64"), last };
      data.fill(0);
      if (!(await to.sendAndFlush(message))) return false;
    }
  }
  return true;
}

/** Throws `delegate.secret_too_large` before anything is opened. */
function requireSizes(uses: readonly SecretUse[], resolved: readonly ResolvedSecret[]): void {
  for (const [nth, { size }] of resolved.entries()) {
    const { reference, as } = uses[nth] ?? { reference: "", as: "value" };
    if (as === "value" && size > MAX_VALUE)
      throw problem("delegate.secret_too_large", [reference, String(size), String(MAX_VALUE)]);
  }
}

/** A secret whose first chunk was read. */
type OpenedSecret = { readonly first: Buffer; readonly rest: AsyncIterator<Buffer> };

async function openSecret({ read }: ResolvedSecret): Promise<OpenedSecret> {
  const rest = read()[Symbol.asyncIterator]();
  const result = await rest.next();
  return { first: result.done === true ? Buffer.alloc(0) : result.value, rest };
}

async function* allBytesOf({ first, rest }: OpenedSecret): AsyncGenerator<Buffer> {
  yield first;
  yield* { [Symbol.asyncIterator]: () => rest };
}

/** Splits into chunks of at most one message; a chunk is the last if no other follows. */
async function* chunksOf(secret: OpenedSecret): AsyncGenerator<{ readonly data: Buffer; readonly last: boolean }> {
  let before: Buffer = Buffer.alloc(0);
  let isFirst = true;
  for await (const bytes of allBytesOf(secret)) {
    for (let from = 0; from < bytes.length; from += MAX_SECRET_CHUNK) {
      if (!isFirst) yield { data: before, last: false };
      before = bytes.subarray(from, from + MAX_SECRET_CHUNK);
      isFirst = false;
    }
  }
  yield { data: before, last: true };
}
