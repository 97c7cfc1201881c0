/** Approval, rejection and deletion of delegates. */
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import type { Audit } from "../../audit/index.ts";
import type { Authorize } from "../../access/index.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { LOST_AFTER_MS, withConnected, type DelegateStatus, type ListedDelegate } from "../delegate.ts";
import { problem } from "../problems.ts";
import { selectDelegates, lockStatus, saveStatus, type DelegateStanding } from "../store/registry.ts";

type Deps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly clock: Clock;
  /** Called after the commit: the delegate's sessions get the new status, on every replica. */
  readonly onStatusChanged: (delegateId: Uuid) => void;
};

export type Approval = "ACTIVATE" | "REJECT";

/** A delegate as clients refer to it. */
export type NamedDelegate = { readonly accountId: string; readonly delegateId: string };

/**
 * ACTIVATE enables a waiting delegate and does not change an enabled one; REJECT deletes a waiting one. Throws
 * `delegate.not_found`, `delegate.other_account`, and `delegate.not_waiting` for the rejection of an enabled
 * delegate.
 */
export const approveDelegate =
  (deps: Deps) =>
  async (actor: Actor, named: NamedDelegate, approval: Approval): Promise<ListedDelegate> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_delegate_edit", { accountId });
    return deps.db.transaction(async (tx) => {
      const found = await lockDelegateById(tx, accountId, named);
      const isWaiting = found.status === "WAITING_FOR_APPROVAL";
      if (!isWaiting && approval === "REJECT") throw problem("delegate.not_waiting", [found.name]);
      if (isWaiting && approval === "ACTIVATE")
        await changeStatus(deps, tx, { actor, verb: "approve", delegate: found });
      if (isWaiting && approval === "REJECT") await changeStatus(deps, tx, { actor, verb: "reject", delegate: found });
      const [delegate] = await selectDelegates(tx, accountId, { ids: [found.id] }, { limit: 1, offset: 0 });
      if (!delegate) throw problem("delegate.not_found", [named.delegateId]);
      return withConnected(delegate, deps.clock.now() - LOST_AFTER_MS);
    });
  };

export type ApproveDelegate = ReturnType<typeof approveDelegate>;

/**
 * Ends the delegate's connections and frees its name; its work folder cannot register again. Its tasks are lost after
 * LOST_AFTER_MS. Throws `delegate.not_found`, `delegate.other_account`.
 */
export const deleteDelegate =
  (deps: Deps) =>
  async (actor: Actor, named: NamedDelegate): Promise<void> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_delegate_delete", { accountId });
    await deps.db.transaction(async (tx) => {
      const found = await lockDelegateById(tx, accountId, named);
      await changeStatus(deps, tx, { actor, verb: "delete", delegate: found });
    });
  };

export type DeleteDelegate = ReturnType<typeof deleteDelegate>;

async function lockDelegateById(tx: Tx, accountId: Uuid, named: NamedDelegate): Promise<DelegateStanding> {
  const { delegateId } = named;
  if (named.accountId !== toWire(accountId)) throw problem("delegate.other_account");
  const id = fromWire(delegateId);
  const found = id && (await lockStatus(tx, accountId, id));
  if (!found) throw problem("delegate.not_found", [delegateId]);
  return found;
}

type StatusChange = {
  readonly actor: Actor;
  readonly verb: "approve" | "reject" | "delete";
  readonly delegate: DelegateStanding;
};

async function changeStatus(
  { audit, onStatusChanged }: Pick<Deps, "audit" | "onStatusChanged">,
  tx: Tx,
  { actor, verb, delegate }: StatusChange,
): Promise<void> {
  const { id, name, status: before, tags } = delegate;
  const status: DelegateStatus = verb === "approve" ? "ENABLED" : "DELETED";
  await saveStatus(tx, { accountId: actor.accountId, id }, status);
  await audit.record(tx, actor, {
    operation: `delegate.${verb}`,
    resourceType: "DELEGATE",
    resourceId: name,
    scope: {},
    before: { status: before },
    // A delegate that waits may have declared other tags since it registered.
    after: { status, ...(verb === "approve" ? { tags } : {}) },
  });
  tx.afterCommit(() => onStatusChanged(id));
}
