/**
 * The delegates that are connected to this replica. Only a convenience (invariant 9):
 * what counts is in the tasks table, and `reconcile.ts` holds the two together.
 */
import type { ToDelegate } from "../../../protocol/messages.ts";
import type { Uuid } from "../../core/ids.ts";
import { selectorsOf, type Delegate } from "../delegate.ts";
import type { TaskEnd } from "../task.ts";

export type Session = {
  readonly delegate: Delegate;
  /** By which it came; another connection of the same delegate may have come by another one. */
  readonly tokenId: Uuid;
  selectors: ReadonlySet<string>;
  /** False while the delegate waits for approval: it gets nothing. */
  isEnabled: boolean;
  /** Tasks it holds, or that are on their way to it, and the run each belongs to. */
  readonly held: Map<Uuid, Uuid>;
  /** By run: slots that are free once the transaction under way has ended one of its tasks. For the run's next task alone. */
  readonly passing: Map<Uuid, number>;
  /** Why it takes no tasks now, after its name; undefined while it does. */
  unavailable: string | undefined;
  /** Slots set aside while ready tasks are leased for them. */
  pulling: number;
  /** When the delegate last said anything, by the monotonic clock. */
  heardAt: number;
  /** When it was last asked for an answer. */
  askedAt?: number;
  /** When the oldest heartbeat came that is not stored yet. */
  unsavedSince?: number | undefined;
  /** Asks for an answer, which counts as something said. */
  readonly ping: () => void;
  /** False when the connection is closed: then the message has certainly not gone out. */
  readonly send: (message: ToDelegate) => boolean;
  /** The same, answered once the message has left this process: whoever sends much waits for it. */
  readonly sent: (message: ToDelegate) => Promise<boolean>;
  /** Ends a task that it holds and will not get. */
  readonly refuse: (task: { readonly task: string; readonly epoch: number }, end: TaskEnd) => Promise<void>;
  readonly close: () => void;
  /** Whether its token still counts and it is enabled, by the database; if not, it is ended. */
  readonly stands: () => Promise<boolean>;
};

type Begin = Pick<
  Session,
  | "tokenId"
  | "isEnabled"
  | "held"
  | "unavailable"
  | "heardAt"
  | "ping"
  | "send"
  | "sent"
  | "refuse"
  | "close"
  | "stands"
>;

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions() {
  const byDelegate = new Map<Uuid, Session>();

  return {
    /** A delegate that connects anew replaces its old connection, which may be half open. */
    open(delegate: Delegate, begin: Begin): Session {
      byDelegate.get(delegate.id)?.close();
      const session: Session = { ...begin, delegate, selectors: selectorsOf(delegate), passing: new Map(), pulling: 0 };
      byDelegate.set(delegate.id, session);
      return session;
    },
    closed(session: Session): void {
      if (byDelegate.get(session.delegate.id) === session) byDelegate.delete(session.delegate.id);
    },
    isOpen: (session: Session): boolean => byDelegate.get(session.delegate.id) === session,
    /** True when the selectors are others than before: what waits may now be for this delegate. */
    retag(session: Session, tags: readonly string[]): boolean {
      const selectors = selectorsOf({ name: session.delegate.name, tags });
      if (selectors.symmetricDifference(session.selectors).size === 0) return false;
      session.selectors = selectors;
      return true;
    },
    /** True when it waited for approval until now: what waits may be for this delegate. */
    enable(session: Session): boolean {
      if (session.isEnabled) return false;
      session.isEnabled = true;
      return true;
    },
    of: (delegateId: Uuid): Session | undefined => byDelegate.get(delegateId),
    all: (): readonly Session[] => [...byDelegate.values()],
    /** The least busy enabled and matching delegate with a free slot, which may be one that this run is just giving back. */
    match(accountId: Uuid, selectors: readonly string[], runId?: Uuid): Session | undefined {
      let best: Session | undefined;
      for (const session of byDelegate.values()) {
        if (!session.isEnabled || session.delegate.accountId !== accountId || freeSlots(session, runId) === 0) continue;
        if (!selectors.every((selector) => session.selectors.has(selector))) continue;
        if (!best || load(session) < load(best)) best = session;
      }
      return best;
    },
  };
}

export const freeSlots = ({ delegate, held, pulling, passing, unavailable }: Session, runId?: Uuid): number =>
  unavailable === undefined
    ? Math.max(0, delegate.slots - held.size - pulling + ((runId && passing.get(runId)) ?? 0))
    : 0;
const load = (session: Session): number => session.held.size / session.delegate.slots;

/** Lets the next task of the run have the slot that one of its tasks gives back; answers how to end that. */
export function passSlot({ passing }: Session, runId: Uuid): () => void {
  passing.set(runId, (passing.get(runId) ?? 0) + 1);
  return () => {
    const left = (passing.get(runId) ?? 1) - 1;
    if (left > 0) passing.set(runId, left);
    else passing.delete(runId);
  };
}
