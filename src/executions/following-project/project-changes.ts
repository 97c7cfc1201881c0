/**
 * The changed executions of a project, in the order of their changes, for followers that know an earlier change. Of each
 * execution only the last change is kept, and of all a bounded part. A follower that knows less begins anew.
 */
import type { Uuid } from "../../core/ids.ts";

/** An execution as lists show it, in JSON. */
export type Entry = { readonly id: Uuid; readonly pipelineIdentifier: string; readonly json: string };

export type ProjectChanges = ReturnType<typeof createProjectChanges>;

/** `mostCharacters`: of the entries that are kept. */
export function createProjectChanges(mostCharacters: () => number) {
  let kept: readonly (Entry & { readonly at: number })[] = [];
  let [at, forgottenAt] = [0, 0];

  function forget(): void {
    let characters = 0;
    const from = kept.findLastIndex(({ json }) => (characters += json.length) > mostCharacters());
    forgottenAt = kept[from]?.at ?? forgottenAt;
    kept = kept.slice(from + 1);
  }

  return {
    /** The number of the last change. */
    at: (): number => at,
    add(entries: readonly Entry[]): void {
      at += 1;
      const ids = new Set(entries.map(({ id }) => id));
      kept = [...kept.filter(({ id }) => !ids.has(id)), ...entries.map((entry) => ({ ...entry, at }))];
      forget();
    },
    /** More has changed than is known. */
    reset(): void {
      at += 1;
      [kept, forgottenAt] = [[], at];
    },
    /** Undefined if that is not known any more. */
    since(known: number): readonly Entry[] | undefined {
      if (known < forgottenAt) return undefined;
      return kept.slice(kept.findLastIndex((entry) => entry.at <= known) + 1);
    },
  };
}
