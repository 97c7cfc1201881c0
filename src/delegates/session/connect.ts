/** Starts a session: identifies the delegate and settles every task that either side believes it holds. */
import { createHash } from "node:crypto";
import { PROTOCOL_VERSION, type ToDelegate, type ToServer } from "../../../protocol/messages.ts";
import type { Audit } from "../../audit/index.ts";
import type { Clock } from "../../core/clock.ts";
import { fromWire, toWire, type NewId, type Uuid } from "../../core/ids.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import type { CurrentSettings } from "../../settings/index.ts";
import { LOST_AFTER_MS, type Delegate } from "../delegate.ts";
import type { Order } from "../tasks/deliver.ts";
import { problem } from "../problems.ts";
import {
  isDeletedIdentity,
  lockDelegate,
  saveDelegate,
  type DelegateRow,
  type SavedDelegate,
} from "../store/delegates.ts";
import type { LostTask } from "./process-messages.ts";
import { countOfToken, isServersToken } from "../store/standing.ts";
import { countLeasedTo, lockLeasedTo, renewLeases, type HeldTask } from "../store/tasks.ts";

/** Most delegates of one token that wait for approval: a stolen token must not hide others in the list. */
const MAX_WAITING = 100;
/** Most delegates of one token that are not deleted: a stolen token must not fill the database with names. */
const MAX_OF_TOKEN = 1_000;

type Hello = Extract<ToServer, { kind: "hello" }>;

/** The start of a session: the welcome, the runs and cancels to send after it, and the lost attempts. */
export type Beginning = {
  readonly delegate: Delegate;
  readonly messages: readonly (Order | Exclude<ToDelegate, { kind: "run" }>)[];
  readonly held: ReadonlyMap<Uuid, Uuid>;
  readonly lost: readonly LostTask[];
  /** False while the delegate waits for approval. */
  readonly isEnabled: boolean;
};

export async function connect(
  deps: { db: Db; audit: Audit; clock: Clock; newId: NewId; currentSettings: CurrentSettings },
  token: { accountId: Uuid; tokenId: Uuid },
  hello: Hello,
): Promise<Beginning> {
  if (hello.protocol !== PROTOCOL_VERSION)
    throw problem("delegate.other_protocol", [String(hello.protocol), String(PROTOCOL_VERSION)]);
  const { accountId } = token;
  const at = deps.clock.now();
  const identityHash = createHash("sha256").update(hello.identity).digest();
  const [required] = await deps.currentSettings(accountId, ["delegate_approval_required"]);
  return deps.db.transaction(async (tx) => {
    const known = await lockDelegate(tx, accountId, hello.name);
    // Read after the lock, so that a concurrent deletion is committed.
    if (await isDeletedIdentity(tx, accountId, identityHash)) throw problem("delegate.deleted", [hello.name]);
    const isSame = known?.identityHash.equals(identityHash) ?? false;
    const needsApproval = required === "true";
    if (known?.tokenId !== token.tokenId) await refuseIfTooMany(tx, accountId, token.tokenId, needsApproval, known);
    if (known && !isSame) {
      // Approval applies to the work folder, not to the name.
      if (needsApproval && !(await isServersToken(tx, accountId, token.tokenId, hello.name)))
        throw problem("delegate.name_reserved", [hello.name]);
      await refuseUnlessGone(tx, accountId, known, hello, at);
    }
    const id = known?.id ?? deps.newId();
    const settled = settle(accountId, id, await lockLeasedTo(tx, accountId, id), hello, known?.bootId === hello.bootId);
    const again = settled.messages.flatMap((message) => (message.kind === "run" ? (fromWire(message.task) ?? []) : []));
    await renewLeases(tx, accountId, again, at);
    const { name, tags: declared, host, version, slots } = hello;
    // The new boot is stored after every lost attempt is ended (`knowBoot`): after an interruption they are lost
    // again next time.
    const bootId = settled.lost.length > 0 && known ? known.bootId : hello.bootId;
    const { tokenId } = token;
    const unavailable = hello.unavailable ?? null;
    const about = { name, identityHash, tags: declared, host, version, bootId, slots, unavailable };
    const saved = await saveDelegate(tx, { accountId, id, tokenId, ...about, at: deps.clock.now(), needsApproval });
    // The token was valid when the connection was opened; it may have been revoked since.
    if (!saved) throw problem("delegate.token_ended");
    const { tags, status } = saved;
    await record(tx, deps.audit, { accountId, id, name, host, tags, status }, isSame ? known : undefined);
    return { delegate: { id, accountId, name, tags, slots }, isEnabled: status === "ENABLED", ...settled };
  });
}

/** Called when a hello adds a delegate to the token: a new one, or one that used another token before. */
async function refuseIfTooMany(
  tx: Tx,
  accountId: Uuid,
  tokenId: Uuid,
  needsApproval: boolean,
  known: DelegateRow | undefined,
): Promise<void> {
  const { all, waiting } = await countOfToken(tx, accountId, tokenId);
  if (all >= MAX_OF_TOKEN) throw problem("delegate.too_many", [String(MAX_OF_TOKEN)]);
  const willWait = needsApproval && (!known || known.status === "WAITING_FOR_APPROVAL");
  if (willWait && waiting >= MAX_WAITING) throw problem("delegate.too_many_waiting", [String(MAX_WAITING)]);
}

type Registered = Pick<Delegate, "accountId" | "id" | "name" | "tags"> &
  Pick<SavedDelegate, "status"> & { readonly host: string };

/**
 * Audit entry for what a hello has changed: a new delegate, another work folder of its name, other tags. A reconnect
 * changes nothing. The tags of a delegate that waits have no effect; its approval records them.
 */
async function record(tx: Tx, audit: Audit, now: Registered, before: DelegateRow | undefined): Promise<void> {
  const { accountId, id, name, host, tags, status } = now;
  const entry = { resourceType: "DELEGATE", resourceId: name, scope: {} };
  const actor = { kind: "delegate", accountId, id, name } as const;
  if (!before)
    await audit.record(tx, actor, { ...entry, operation: "delegate.register", after: { host, tags, status } });
  else if (status === "ENABLED" && new Set(before.tags).symmetricDifference(new Set(tags)).size > 0)
    await audit.record(tx, actor, {
      ...entry,
      operation: "delegate-tags.declare",
      before: { tags: before.tags },
      after: { tags },
    });
}

/** Without approval, another work folder may take over a name when the first one is gone and leases nothing. */
async function refuseUnlessGone(tx: Tx, accountId: Uuid, known: DelegateRow, hello: Hello, at: number): Promise<void> {
  const gone = known.seenAt < at - LOST_AFTER_MS && (await countLeasedTo(tx, accountId, known.id)) === 0;
  if (!gone) throw problem("delegate.name_taken", [hello.name]);
}

/**
 * A leased task that the delegate runs continues at the committed offset. One that it does not know has never
 * started, because the journal in its work folder is written before anything starts: it is sent again. After a
 * restart of the machine, the journal may lack its last entries, so the task counts as lost; no script runs twice
 * (invariant 3).
 */
function settle(
  accountId: Uuid,
  delegateId: Uuid,
  leased: readonly HeldTask[],
  hello: Hello,
  sameBoot: boolean,
): Pick<Beginning, "messages" | "held" | "lost"> {
  const holds = new Map(hello.holds.map((one) => [one.task, one.epoch]));
  const keep: { task: string; epoch: number; offset: number }[] = [];
  const after: Beginning["messages"][number][] = [];
  const held = new Map<Uuid, Uuid>();
  const lost: LostTask[] = [];
  for (const task of leased) {
    const lease = { task: toWire(task.id), epoch: task.epoch };
    if (holds.get(lease.task) === task.epoch) {
      keep.push({ ...lease, offset: task.logOffset });
      holds.delete(lease.task);
    } else if (sameBoot) {
      after.push({ kind: "run", ...lease, work: task.work });
    } else {
      lost.push({ accountId, id: task.id, runId: task.runId, epoch: task.epoch });
      continue;
    }
    held.set(task.id, task.runId);
    if (task.cancelling) after.push({ kind: "cancel", ...lease });
  }
  const drop = [...holds].map(([task, epoch]) => ({ task, epoch }));
  return { messages: [{ kind: "welcome", delegate: toWire(delegateId), keep, drop }, ...after], held, lost };
}
