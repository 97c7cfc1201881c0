import type { Uuid } from "../core/ids.ts";

/** The program that runs tasks near the targets. */
export type Delegate = {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly name: string;
  readonly tags: readonly string[];
  readonly slots: number;
};

/** What tasks may ask for: the delegate's tags, and its name. All of a task's selectors must match, exactly. */
export const selectorsOf = (delegate: Pick<Delegate, "name" | "tags">): ReadonlySet<string> =>
  new Set([...delegate.tags, delegate.name]);

/** A delegate that has not been heard of for so long is lost, and with it the attempts it held. */
export const LOST_AFTER_MS = 60_000;
