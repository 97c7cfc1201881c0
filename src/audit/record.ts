import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId } from "../core/ids.ts";
import type { Tx } from "../platform/db/db.ts";
import { differenceOf } from "./difference.ts";
import type { AuditedChange } from "./entry.ts";
import { insertEntry } from "./store.ts";

export type Audit = {
  /** Appends to the trail inside the caller's transaction: no change without its entry, no entry without its change. */
  readonly record: (tx: Tx, actor: Actor, change: AuditedChange) => Promise<void>;
};

export const makeAudit = (deps: { clock: Clock; newId: NewId }): Audit => ({
  record: (tx, actor, { before, after, ...change }) =>
    insertEntry(tx, {
      id: deps.newId(),
      at: deps.clock.now(),
      actor,
      ...change,
      difference: differenceOf(before, after),
    }),
});
