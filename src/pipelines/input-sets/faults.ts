/** What the newest version of a pipeline has against its input sets. A version never changes, so it is found out once. */
import { setImmediate } from "node:timers/promises";
import { createLru } from "../../platform/lru.ts";
import { Problem } from "../../core/problem.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Fault } from "../../core/problem.ts";
import type { Db } from "../../platform/db/db.ts";
import { readPipeline } from "../document/index.ts";
import type { InProject, SavedPipeline } from "../pipeline.ts";
import { findDocuments, findListed, type SetVersion } from "../store/input-sets.ts";
import { savedValues } from "./document.ts";
import type { Checked, InputSet, InputSetWithYaml, SetFault } from "./input-set.ts";

/** Sets whose faults are kept. */
const KEPT = 5_000;
/** Documents that are read at a time: each may have 256 KiB. */
const AT_ONCE = 20;

export type CheckSets = <T extends InputSet>(
  accountId: Uuid,
  pipeline: SavedPipeline,
  scope: InProject,
  sets: readonly T[],
) => Promise<readonly Checked<T>[]>;

/** Each set with its faults, an overlay with those of what it lists. */
export function makeCheckSets({ db }: { readonly db: Db }): CheckSets {
  const kept = createLru<string, readonly Fault[]>(KEPT, (_, faults) => 1 + faults.length);

  return async (accountId, pipeline, scope, sets) => {
    const listed = [...new Set(sets.flatMap(({ references }) => references))];
    const others = listed.length === 0 ? [] : await findListed(db, accountId, pipeline.id, listed);
    const plain = sets.filter(({ kind }) => kind === "INPUT_SET");
    const faults = await faultsOf([...new Map([...plain, ...others].map((set) => [set.id, set])).values()]);
    return sets.map((set) => {
      const names = set.kind === "INPUT_SET" ? [set.identifier] : set.references;
      return { ...set, faults: names.flatMap((name) => faults.get(name) ?? []) };
    });

    async function faultsOf(all: readonly SetVersion[]): Promise<ReadonlyMap<string, readonly SetFault[]>> {
      const faults = new Map<string, readonly SetFault[]>();
      const open: SetVersion[] = [];
      const note = (set: SetVersion, list: readonly Fault[]): void =>
        void faults.set(
          set.identifier,
          list.map((fault) => ({ ...fault, inputSet: set.identifier })),
        );
      for (const set of all) {
        const known = kept.get(keyOf(set));
        if (known) note(set, known);
        else open.push(set);
      }
      const check = open.length === 0 ? undefined : checkerOf(pipeline, scope);
      for (let from = 0; check && from < open.length; from += AT_ONCE) {
        const batch = open.slice(from, from + AT_ONCE);
        const found = new Map((await findDocuments(db, accountId, batch)).map((one) => [one.id, one]));
        for (const set of batch) {
          const saved = found.get(set.id);
          // Changed or gone since it was listed: whoever asks next learns about what it is by then.
          if (!saved) continue;
          // A long list of long documents must not hold up everyone else.
          await setImmediate();
          const list = check(saved);
          kept.set(keyOf(set), list);
          note(set, list);
        }
      }
      return faults;
    }

    function keyOf({ id, version }: SetVersion): string {
      return `${pipeline.id} ${pipeline.version} ${id} ${version}`;
    }
  };
}

/** What a pipeline has against the document of a set: the faults of the pipeline itself when this release refuses it. */
function checkerOf(
  pipeline: SavedPipeline,
  scope: InProject,
): (set: Pick<InputSetWithYaml, "yaml">) => readonly Fault[] {
  let document: ReturnType<typeof readPipeline>["pipeline"] | undefined;
  return (set) =>
    faultsIn(() => {
      document ??= readPipeline(pipeline.yaml, scope).pipeline;
      savedValues(document, set);
    });
}

export function faultsIn(work: () => void): readonly Fault[] {
  try {
    work();
    return [];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.faults.length > 0 ? error.faults : [{ path: "pipeline", message: error.message }];
  }
}
