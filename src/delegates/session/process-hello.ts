/**
 * Processes the first message of a connection, the hello: registers the delegate, and reconciles the tasks that the
 * database leases to it with those that it has.
 */
import { createHash } from "node:crypto";
import type { ToDelegate, ToServer } from "../../../protocol/messages.ts";
import {
  capabilitiesOf,
  type Capability,
  chooseVersion,
  formatRange,
  PROTOCOL,
  rangeOf,
} from "../../../protocol/versions.ts";
import type { Audit } from "../../audit/index.ts";
import type { Clock } from "../../core/clock.ts";
import { fromWire, toWire, type NewId, type Uuid } from "../../core/ids.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import type { CurrentSettings } from "../../settings/index.ts";
import { LOST_AFTER_MS, type Delegate, type DelegateKey } from "../delegate.ts";
import type { RunOrder } from "../tasks/deliver.ts";
import { problem } from "../problems.ts";
import {
  isDeletedIdentity,
  lockDelegate,
  saveDelegate,
  type DelegateRow,
  type SavedDelegate,
} from "../store/delegates.ts";
import type { LostTask } from "./process-task-messages.ts";
import type { SessionLease } from "./sessions.ts";
import { countDelegatesOfToken, isTokenOfServer, type TokenKey } from "../store/token-validity.ts";
import { countLeasedTo, lockLeasedTo, renewLeases, returnTask, type LeasedTask } from "../store/leases.ts";

/** Most delegates of one token that wait for approval: a stolen token must not hide others in the list. */
const MAX_WAITING_FOR_APPROVAL = 100;
/** Most delegates of one token that are not deleted: a stolen token must not fill the database with names. */
const MAX_OF_TOKEN = 1_000;

type Hello = Extract<ToServer, { kind: "hello" }>;
type Welcome = Extract<ToDelegate, { kind: "welcome" }>;
/** What a delegate says of itself that decides about its leases. */
type Returning = Pick<Hello, "holds"> & {
  readonly isSameBoot: boolean;
  readonly capabilities: ReadonlySet<Capability>;
};

/** The start of a session: the welcome, the runs and cancels to send after it, and the lost attempts. */
export type SessionStart = {
  readonly delegate: Delegate;
  /** The version of the protocol. */
  readonly protocol: number;
  readonly messages: readonly (RunOrder | Exclude<ToDelegate, { kind: "run" }>)[];
  /** As in `Session`. */
  readonly leasedTasks: ReadonlyMap<Uuid, SessionLease>;
  readonly lost: readonly LostTask[];
  /** Tasks that the delegate never got and cannot run: they are ready for others. */
  readonly returned: readonly LeasedTask[];
  /** False while the delegate waits for approval. */
  readonly isEnabled: boolean;
};

/**
 * Registers the delegate and returns how its session starts. Throws `delegate.other_protocol`, `delegate.deleted`,
 * `delegate.name_reserved`, `delegate.name_taken`, `delegate.token_ended`, `delegate.too_many` and
 * `delegate.too_many_waiting`.
 */
export async function processHello(
  deps: { db: Db; audit: Audit; clock: Clock; newId: NewId; currentSettings: CurrentSettings },
  token: TokenKey,
  hello: Hello,
): Promise<SessionStart> {
  const offered = rangeOf(hello);
  const protocol = chooseVersion(PROTOCOL, offered);
  if (protocol === undefined) throw problem("delegate.other_protocol", [formatRange(offered), formatRange(PROTOCOL)]);
  const { accountId } = token;
  const at = deps.clock.now();
  const identityHash = createHash("sha256").update(hello.identity).digest();
  const [required] = await deps.currentSettings(accountId, ["delegate_approval_required"]);
  return deps.db.transaction(async (tx) => {
    const known = await lockDelegate(tx, accountId, hello.name);
    // Read after the lock, so that a concurrent deletion is committed.
    if (await isDeletedIdentity(tx, accountId, identityHash)) throw problem("delegate.deleted", [hello.name]);
    const isSameIdentity = known?.identityHash.equals(identityHash) ?? false;
    const needsApproval = required === "true";
    if (known?.tokenId !== token.tokenId) await refuseIfTooMany(tx, token, { known, needsApproval });
    if (known && !isSameIdentity) {
      // Approval applies to the work folder, not to the name.
      if (needsApproval && !(await isTokenOfServer(tx, token, hello.name)))
        throw problem("delegate.name_reserved", [hello.name]);
      await requireFormerDelegateGone(tx, { ...known, accountId, name: hello.name }, at);
    }
    const id = known?.id ?? deps.newId();
    const delegate = { accountId, id };
    const leased = await lockLeasedTo(tx, delegate);
    const capabilities = capabilitiesOf(hello);
    const leases = reconcileLeases(leased, {
      holds: hello.holds,
      capabilities: new Set(capabilities),
      isSameBoot: known?.bootId === hello.bootId,
    });
    const resentTasks = leases.messages.flatMap((message) =>
      message.kind === "run" ? (fromWire(message.task) ?? []) : [],
    );
    await renewLeases(tx, { accountId, ids: resentTasks }, at);
    for (const task of leases.returned) await returnTask(tx, { ...task, accountId });
    const { name, tags: declared, host, version, slots } = hello;
    // The new boot is stored after every lost attempt is ended (`saveBoot`): after an interruption they are lost
    // again next time.
    const bootId = leases.lost.length > 0 && known ? known.bootId : hello.bootId;
    const { tokenId } = token;
    const unavailable = hello.unavailable ?? null;
    const declaration = { name, identityHash, tags: declared, host, version, bootId, slots, unavailable, capabilities };
    const saved = await saveDelegate(tx, {
      accountId,
      id,
      tokenId,
      ...declaration,
      at: deps.clock.now(),
      needsApproval,
    });
    // The token was valid when the connection was opened; it may have been revoked since.
    if (!saved) throw problem("delegate.token_ended");
    const { tags, status } = saved;
    await recordRegistration(
      tx,
      deps.audit,
      { accountId, id, name, host, tags, status },
      isSameIdentity ? known : undefined,
    );
    const { keep, drop } = leases;
    return {
      ...leases,
      delegate: { id, accountId, name, tags, slots, capabilities },
      protocol,
      isEnabled: status === "ENABLED",
      messages: [{ kind: "welcome", delegate: toWire(id), protocol, keep, drop }, ...leases.messages],
    };
  });
}

/** Called when a hello adds a delegate to the token: a new one, or one that used another token before. */
async function refuseIfTooMany(
  tx: Tx,
  token: TokenKey,
  { known, needsApproval }: { readonly known: DelegateRow | undefined; readonly needsApproval: boolean },
): Promise<void> {
  const { all, waiting } = await countDelegatesOfToken(tx, token);
  if (all >= MAX_OF_TOKEN) throw problem("delegate.too_many", [String(MAX_OF_TOKEN)]);
  const willWait = needsApproval && (!known || known.status === "WAITING_FOR_APPROVAL");
  if (willWait && waiting >= MAX_WAITING_FOR_APPROVAL)
    throw problem("delegate.too_many_waiting", [String(MAX_WAITING_FOR_APPROVAL)]);
}

type Registered = Pick<Delegate, "accountId" | "id" | "name" | "tags"> &
  Pick<SavedDelegate, "status"> & { readonly host: string };

/**
 * Audit entry for what a hello has changed: a new delegate, another work folder of its name, other tags. A reconnect
 * changes nothing. The tags of a delegate that waits have no effect; its approval records them.
 */
async function recordRegistration(
  tx: Tx,
  audit: Audit,
  now: Registered,
  before: DelegateRow | undefined,
): Promise<void> {
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
async function requireFormerDelegateGone(
  tx: Tx,
  former: DelegateKey & { readonly name: string; readonly seenAt: number },
  now: number,
): Promise<void> {
  const isGone = former.seenAt < now - LOST_AFTER_MS && (await countLeasedTo(tx, former)) === 0;
  if (!isGone) throw problem("delegate.name_taken", [former.name]);
}

/**
 * A leased task that the delegate runs continues at the committed offset. One that it does not know has never
 * started, because the journal in its work folder is written before anything starts: it is sent again. After a
 * restart of the machine, the journal may lack its last entries, so the task counts as lost; no script runs twice
 * (invariant 3). A task that it has not started and cannot run, since its program is an older one now, is returned.
 */
function reconcileLeases(leased: readonly LeasedTask[], { holds, isSameBoot, capabilities }: Returning) {
  const epochByTask = new Map(holds.map(({ task, epoch }) => [task, epoch]));
  const keep: Welcome["keep"] = [];
  const messages: SessionStart["messages"][number][] = [];
  const leasedTasks = new Map<Uuid, SessionLease>();
  const lost: LostTask[] = [];
  const returned: LeasedTask[] = [];
  for (const task of leased) {
    const lease = { task: toWire(task.id), epoch: task.epoch };
    if (epochByTask.get(lease.task) === task.epoch) {
      keep.push({ ...lease, offset: task.logOffset });
      epochByTask.delete(lease.task);
    } else if (!isSameBoot) {
      lost.push(task);
      continue;
    } else if (capabilities.has(task.capability)) {
      messages.push({ kind: "run", ...lease, work: task.work });
    } else if (!task.cancelling) {
      returned.push(task);
      continue;
    }
    leasedTasks.set(task.id, { runId: task.runId, epoch: task.epoch });
    if (task.cancelling) messages.push({ kind: "cancel", ...lease });
  }
  const drop = [...epochByTask].map(([task, epoch]) => ({ task, epoch }));
  return { keep, drop, messages, leasedTasks, lost, returned };
}
