import type { Uuid } from "../core/ids.ts";

/** A project that is being deleted; an organization if `projectIdentifier` is null. */
export type DeletedScope = {
  readonly accountId: Uuid;
  readonly orgIdentifier: string;
  readonly projectIdentifier: string | null;
};

/** The resources of one type that were removed with a deleted one: their number, and the names of the first ones. */
export type RemovedReference = {
  readonly type: string;
  readonly count: number;
  readonly identifiers: readonly string[];
};

/** Bytes of names in one audit entry. The audit trail cuts entries at twice as many. */
const MAX_NAMES = 8_192;

/** The removed resources for the audit trail. Beyond the limit of names, only their number. */
export function shownRemovals(all: readonly RemovedReference[]): { readonly goneToo?: readonly RemovedReference[] } {
  let room = MAX_NAMES;
  const shown = all.map(({ type, count, identifiers }): RemovedReference => {
    const kept = identifiers.filter((name) => (room -= Buffer.byteLength(name) + 3) >= 0);
    return { type, count, identifiers: kept };
  });
  return shown.length === 0 ? {} : { goneToo: shown };
}
