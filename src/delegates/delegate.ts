import type { Uuid } from "../core/ids.ts";

export const DELEGATE_STATUSES = ["ENABLED", "WAITING_FOR_APPROVAL", "DELETED"] as const;

/** A waiting delegate is connected and gets nothing. A deleted one, also by rejection or by its token's end, is kept out. */
export type DelegateStatus = (typeof DELEGATE_STATUSES)[number];

/** The program that runs tasks near the targets. */
export type Delegate = {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly name: string;
  readonly tags: readonly string[];
  readonly slots: number;
};

export type TaggedDelegate = Pick<Delegate, "id" | "accountId" | "name" | "tags">;

/** What a list of delegates shows; `connected` means heard of within LOST_AFTER_MS, by whichever replica. */
export type RegisteredDelegate = TaggedDelegate & {
  readonly host: string;
  readonly version: string;
  readonly seenAt: number;
  readonly createdAt: number;
  readonly tokenName: string;
  /** DELETED also when its token is revoked. */
  readonly status: DelegateStatus;
  /** Why it takes no tasks now, after its name; null while it does. */
  readonly unavailable: string | null;
};

/** What tasks may ask for: the delegate's tags, and its name. All of a task's selectors must match, exactly. */
export const selectorsOf = (delegate: Pick<Delegate, "name" | "tags">): ReadonlySet<string> =>
  new Set([...delegate.tags, delegate.name]);

/** A delegate that has not been heard of for so long is lost, and with it the attempts it held. */
export const LOST_AFTER_MS = 60_000;

/** Of one delegate; protocol/messages.ts lets it declare as many. */
export const MAX_TAGS = 64;
