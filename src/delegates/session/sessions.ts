/**
 * Owns the list of sessions on this replica: at most one for each delegate, from the answer to its hello on. The list
 * is an optimization (invariant 9): the tasks table is authoritative, and `reconcile.ts` compares the two.
 */
import type { ToDelegate } from "../../../protocol/messages.ts";
import type { Capability } from "../../../protocol/versions.ts";
import type { Uuid } from "../../core/ids.ts";
import { selectorsOf, type Delegate } from "../delegate.ts";
import type { NewTask, TaskEnd } from "../task.ts";

export type SessionLease = { readonly runId: Uuid; readonly epoch: number };

export type Session = {
  readonly delegate: Delegate;
  /** The token of this connection; another connection of the same delegate may use another one. */
  readonly tokenId: Uuid;
  selectors: ReadonlySet<string>;
  /** False while the delegate waits for approval and gets no tasks. */
  isEnabled: boolean;
  /** The tasks that the delegate leases, by their ids, also while they are being sent. */
  readonly leasedTasks: Map<Uuid, SessionLease>;
  /** Slots that become free with the current transaction, reserved for the run's next task: their number by run id. */
  readonly slotsReservedByRun: Map<Uuid, number>;
  /**
   * The reason why it takes no tasks now, as the rest of a sentence that begins with its name; undefined while it
   * takes tasks.
   */
  unavailableReason: string | undefined;
  /** Slots that are reserved while ready tasks are leased for them. */
  slotsReservedForPull: number;
  /** Time of the last message or pong, by the monotonic clock. */
  lastReceivedAt: number;
  /** Time of the last ping. */
  lastPingAt?: number;
  /** Time of the oldest heartbeat that is not stored yet. */
  heartbeatUnsavedSince?: number | undefined;
  /** Sends a ping; its answer counts as a sign of life. */
  readonly ping: () => void;
  /** False when the connection is closed: then the message was certainly not sent. */
  readonly send: (message: ToDelegate) => boolean;
  /** The same, resolved when the message has left this process; for callers that send much. */
  readonly sendAndFlush: (message: ToDelegate) => Promise<boolean>;
  /** Ends a leased task that is not sent. */
  readonly endUnsentTask: (task: { readonly task: string; readonly epoch: number }, end: TaskEnd) => Promise<void>;
  readonly close: () => void;
  /** Checks in the database that the token is valid and the delegate enabled; ends the session if not. */
  readonly verifyEntitlement: () => Promise<boolean>;
};

type NewSession = Pick<
  Session,
  | "tokenId"
  | "isEnabled"
  | "leasedTasks"
  | "unavailableReason"
  | "lastReceivedAt"
  | "ping"
  | "send"
  | "sendAndFlush"
  | "endUnsentTask"
  | "close"
  | "verifyEntitlement"
>;

type FreeSessionRequest = Pick<NewTask, "accountId" | "selectors" | "runId"> & { readonly capability: Capability };

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions() {
  const byDelegate = new Map<Uuid, Session>();

  return {
    /** A new connection of a delegate replaces its old one, which may be half open. */
    open(delegate: Delegate, opened: NewSession): Session {
      byDelegate.get(delegate.id)?.close();
      const session: Session = {
        ...opened,
        delegate,
        selectors: selectorsOf(delegate),
        slotsReservedByRun: new Map(),
        slotsReservedForPull: 0,
      };
      byDelegate.set(delegate.id, session);
      return session;
    },
    remove(session: Session): void {
      if (byDelegate.get(session.delegate.id) === session) byDelegate.delete(session.delegate.id);
    },
    isOpen: (session: Session): boolean => byDelegate.get(session.delegate.id) === session,
    /** True when the selectors have changed: pending tasks may now match this delegate. */
    updateTags(session: Session, tags: readonly string[]): boolean {
      const selectors = selectorsOf({ name: session.delegate.name, tags });
      if (selectors.symmetricDifference(session.selectors).size === 0) return false;
      session.selectors = selectors;
      return true;
    },
    /** True when the delegate waited for approval: pending tasks may match it. */
    enable(session: Session): boolean {
      if (session.isEnabled) return false;
      session.isEnabled = true;
      return true;
    },
    find: (delegateId: Uuid): Session | undefined => byDelegate.get(delegateId),
    all: (): readonly Session[] => [...byDelegate.values()],
    /** The least busy enabled and matching delegate with a free slot, including a slot that this run is releasing. */
    findFreeSession({ accountId, selectors, capability, runId }: FreeSessionRequest): Session | undefined {
      let best: Session | undefined;
      for (const session of byDelegate.values()) {
        if (!session.isEnabled || session.delegate.accountId !== accountId || freeSlots(session, runId) === 0) continue;
        if (!selectors.every((selector) => session.selectors.has(selector))) continue;
        if (!session.delegate.capabilities.includes(capability)) continue;
        if (!best || loadOf(session) < loadOf(best)) best = session;
      }
      return best;
    },
  };
}

/** Slots for further tasks; with a run, also those that are reserved for its next task. */
export function freeSlots(session: Session, runId?: Uuid): number {
  if (session.unavailableReason !== undefined) return 0;
  const reservedForRun = (runId && session.slotsReservedByRun.get(runId)) ?? 0;
  const unused = session.delegate.slots - session.leasedTasks.size - session.slotsReservedForPull;
  return Math.max(0, unused + reservedForRun);
}

const loadOf = (session: Session): number => session.leasedTasks.size / session.delegate.slots;

/**
 * Reserves a slot that one of the run's tasks releases for the next task of the run. Returns a function that ends the
 * reservation.
 */
export function reserveSlotForRun({ slotsReservedByRun }: Session, runId: Uuid): () => void {
  slotsReservedByRun.set(runId, (slotsReservedByRun.get(runId) ?? 0) + 1);
  return () => {
    const left = (slotsReservedByRun.get(runId) ?? 1) - 1;
    if (left > 0) slotsReservedByRun.set(runId, left);
    else slotsReservedByRun.delete(runId);
  };
}
