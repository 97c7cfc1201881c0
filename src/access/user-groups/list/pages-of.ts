import type { Uuid } from "../../../core/ids.ts";
import type { Page, Window } from "../../../core/page.ts";

type FoundPages<T> = {
  readonly found: ReadonlyMap<Uuid, readonly T[]>;
  readonly window: Window;
  readonly count: () => Promise<ReadonlyMap<Uuid, number>>;
};

/** A page for each id. The totals of all are counted by one statement, when the first of them is asked for. */
export function pagesOf<T>(ids: readonly Uuid[], { found, window, count }: FoundPages<T>): readonly Page<T>[] {
  let counted: Promise<ReadonlyMap<Uuid, number>> | undefined;
  const totals = () => (counted ??= count());
  return ids.map((id) => ({
    items: found.get(id) ?? [],
    ...window,
    total: async () => (await totals()).get(id) ?? 0,
  }));
}
