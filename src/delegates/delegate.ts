import type { Capability } from "../../protocol/versions.ts";
import type { Uuid } from "../core/ids.ts";

export const DELEGATE_STATUSES = ["ENABLED", "WAITING_FOR_APPROVAL", "DELETED"] as const;

/**
 * A waiting delegate is connected and gets no tasks. A deleted one cannot connect; rejection and a revoked token
 * delete it, too.
 */
export type DelegateStatus = (typeof DELEGATE_STATUSES)[number];

/** The program that runs tasks near the targets. */
export type Delegate = {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly name: string;
  readonly tags: readonly string[];
  readonly slots: number;
  /** The kinds of work that it can run. */
  readonly capabilities: readonly Capability[];
};

/** Identifies a delegate. */
export type DelegateKey = Pick<Delegate, "id" | "accountId">;

export type TaggedDelegate = Pick<Delegate, "id" | "accountId" | "name" | "tags">;

/** A delegate in a list. */
export type RegisteredDelegate = TaggedDelegate & {
  readonly slots: number;
  /** The number of tasks that it leases. */
  readonly slotsInUse: number;
  readonly host: string;
  readonly version: string;
  readonly seenAt: number;
  readonly createdAt: number;
  readonly tokenName: string;
  /** DELETED also when its token is revoked. */
  readonly status: DelegateStatus;
  /**
   * The reason why it takes no tasks now, as the rest of a sentence that begins with its name; null while it takes
   * tasks.
   */
  readonly unavailable: string | null;
};

/** `connected`: any replica heard from it within LOST_AFTER_MS. */
export type ListedDelegate = RegisteredDelegate & { readonly connected: boolean };

/** @param since LOST_AFTER_MS ago, epoch milliseconds */
export const withConnected = (delegate: RegisteredDelegate, since: number): ListedDelegate => ({
  ...delegate,
  connected: delegate.status !== "DELETED" && delegate.seenAt >= since,
});

/** The reason why a connected delegate takes no tasks now. */
export const unavailableReason = ({ connected, name, unavailable }: ListedDelegate): string | null =>
  connected && unavailable !== null ? `Delegate ${name} ${unavailable}.` : null;

/** The selectors that a delegate matches: its tags and its name. All selectors of a task must match exactly. */
export const selectorsOf = (delegate: Pick<Delegate, "name" | "tags">): ReadonlySet<string> =>
  new Set([...delegate.tags, delegate.name]);

/** A delegate that was silent for this long is lost, together with its attempts. */
export const LOST_AFTER_MS = 60_000;

/** Most tags of one delegate; protocol/messages.ts permits it to declare as many. */
export const MAX_TAGS = 64;
