/** What the newest version of a pipeline has against its input sets. A version never changes, so it is found out once. */
import { createLru } from "../../platform/lru.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Fault } from "../../core/problem.ts";
import type { Db } from "../../platform/db/db.ts";
import type { RunJob } from "../jobs/run-job.ts";
import { placeOf, type InProject, type SavedPipeline } from "../pipeline.ts";
import { findDocuments, findListed, type SetVersion } from "../store/input-sets.ts";
import type { Checked, InputSet, SetFault } from "./input-set.ts";

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
export function makeCheckSets({ db, runJob }: { readonly db: Db; readonly runJob: RunJob }): CheckSets {
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
      for (let from = 0; from < open.length; from += AT_ONCE) {
        const batch = open.slice(from, from + AT_ONCE);
        const documents = new Map((await findDocuments(db, accountId, batch)).map((one) => [one.id, one]));
        // Those that were changed or removed since they were listed have no document.
        const sets = batch.flatMap((set) => {
          const saved = documents.get(set.id);
          return saved ? [{ ...set, yaml: saved.yaml }] : [];
        });
        const asked = { pipelineYaml: pipeline.yaml, scope: placeOf(scope), sets: sets.map(({ yaml }) => ({ yaml })) };
        const found = await runJob(accountId, "faultsOfSets", asked);
        for (const [nth, set] of sets.entries()) {
          const list = found[nth] ?? [];
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
