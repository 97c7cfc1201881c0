/**
 * `Idempotency-Key`: a request that is repeated because its answer got lost starts nothing again. The key is stored in the
 * transaction that starts the execution, so there is never one without the other; a request that was refused stores none.
 */
import { createHash } from "node:crypto";
import { actorId, type Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { Uuid } from "../core/ids.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import type { Started } from "./started.ts";
import {
  claimKey,
  deleteKeys,
  findAnswer,
  keepAnswer,
  type IdempotencyKey,
  type KeptAnswer,
} from "./store/idempotency.ts";

/** A key, the operation that it belongs to, and a hash of all that the request asks for. */
export type Idempotency = {
  readonly key: string;
  readonly operation: string;
  readonly requestHash: Buffer;
  /** The hash that an older server has stored, without the pipeline; and the pipeline that it must have started. */
  readonly older?: { readonly requestHash: Buffer; readonly pipelineId: Uuid };
};

const KEPT_MS = 24 * 3_600_000;
const DELETED_AT_ONCE = 1_000;
const KEY = /^[\x20-\x7e]{1,255}$/;

/** Undefined without the header. Quotes around it, as RFC 9651 writes strings, are not part of the key. Throws `execution.bad_idempotency_key`. */
export function idempotencyOf(
  header: string | readonly string[] | undefined,
  operation: string,
  request: readonly unknown[],
): Idempotency | undefined {
  if (header === undefined) return undefined;
  const key = typeof header === "string" ? header.replace(/^"(.*)"$/, "$1") : "";
  if (!KEY.test(key)) throw problem("execution.bad_idempotency_key");
  return { key, operation, requestHash: createHash("sha256").update(JSON.stringify(request)).digest() };
}

/** The same for the pipeline that has the request's identifier now: an identifier may pass to another pipeline. */
export const ofPipeline = (idempotency: Idempotency, id: Uuid): Idempotency => ({
  ...idempotency,
  requestHash: createHash("sha256").update(idempotency.requestHash).update(id).digest(),
  older: { requestHash: idempotency.requestHash, pipelineId: id },
});

export type StartOnce = {
  /** What an earlier request of the caller with this key has started. Throws `execution.idempotency_key_reused`. */
  readonly find: (actor: Actor, idempotency: Idempotency | undefined) => Promise<Started | undefined>;
  /** Starts, and stores the key, in the caller's transaction; or answers what a request at the same time has started. */
  readonly start: (
    tx: Tx,
    actor: Actor,
    idempotency: Idempotency | undefined,
    work: () => Promise<Started>,
  ) => Promise<Started>;
};

const keyOf = (actor: Actor, { key, operation }: Idempotency): IdempotencyKey => ({
  accountId: actor.accountId,
  actorId: actorId(actor) ?? actor.accountId,
  operation,
  key,
});

/** Whether an older server has answered the same request, and has started the same pipeline. */
const isOlderAnswer = ({ requestHash, pipelineId }: KeptAnswer, { older }: Idempotency): boolean =>
  older !== undefined && requestHash.equals(older.requestHash) && pipelineId === older.pipelineId;

export function makeStartOnce({ db, clock }: { readonly db: Db; readonly clock: Clock }): StartOnce {
  const since = (): number => clock.now() - KEPT_MS;

  async function findIn(on: Pick<Tx, "query">, actor: Actor, idempotency: Idempotency): Promise<Started | undefined> {
    const kept = await findAnswer(on, keyOf(actor, idempotency), since());
    if (kept && !kept.requestHash.equals(idempotency.requestHash) && !isOlderAnswer(kept, idempotency))
      throw problem("execution.idempotency_key_reused", [idempotency.key]);
    return kept?.started;
  }

  return {
    find: async (actor, idempotency) => (idempotency ? findIn(db, actor, idempotency) : undefined),
    start: async (tx, actor, idempotency, work) => {
      if (!idempotency) return work();
      const key = keyOf(actor, idempotency);
      const claim = { requestHash: idempotency.requestHash, at: clock.now(), since: since() };
      if (!(await claimKey(tx, key, claim))) {
        const earlier = await findIn(tx, actor, idempotency);
        if (earlier) return earlier;
        throw new Error(`the idempotency key of ${key.operation} is in use, and has started nothing`);
      }
      const started = await work();
      await keepAnswer(tx, key, started);
      return started;
    },
  };
}

/** Deletes keys that are older than a day, some at a time. Run about once a second. */
export const makeDeleteIdempotencyKeys =
  ({ db, clock }: { readonly db: Db; readonly clock: Clock }) =>
  (): Promise<void> =>
    deleteKeys(db, clock.now() - KEPT_MS, DELETED_AT_ONCE);
