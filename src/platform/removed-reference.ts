import type { Uuid } from "../core/ids.ts";

/** A project that is being deleted; or, where that is null, an organization that has none. */
export type Leaving = {
  readonly accountId: Uuid;
  readonly orgIdentifier: string;
  readonly projectIdentifier: string | null;
};

/** Things of one type that went along with what was deleted, for the trail: how many, and the first of them by name. */
export type RemovedReference = {
  readonly type: string;
  readonly count: number;
  readonly identifiers: readonly string[];
};

/** Bytes of names that one entry keeps: the trail cuts entries at twice as many. */
const MAX_NAMES = 8_192;

/** As an entry shows them; of names that are too many only the count. */
export function goneToo(all: readonly RemovedReference[]): { readonly goneToo?: readonly RemovedReference[] } {
  let room = MAX_NAMES;
  const shown = all.map(({ type, count, identifiers }): RemovedReference => {
    const kept = identifiers.filter((name) => (room -= Buffer.byteLength(name) + 3) >= 0);
    return { type, count, identifiers: kept };
  });
  return shown.length === 0 ? {} : { goneToo: shown };
}
