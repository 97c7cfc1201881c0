/** What one request to adopt reads: each pipeline once, and all documents bounded in sum. */
import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import type { PipelineDeps } from "./create.ts";
import { requirePipeline } from "./get.ts";
import type { ReadDocument } from "./jobs/jobs.ts";
import { placeOf, type InProject, type SavedPipeline } from "./pipeline.ts";
import { problem } from "./problems.ts";
import { sizeOfSets } from "./store/input-sets.ts";

/** One pipeline of the greatest size, or many small ones. To read one MiB of documents takes about half a second. */
const MAX_BYTES = 5 * 1024 * 1024;

export type AdoptionReads = {
  /** Counts a document before it is parsed. Throws `pipeline.adoption_too_large`. */
  readonly count: (text: string) => void;
  /** Counts the input sets and what overlays among them list. Throws `pipeline.adoption_too_large`. */
  readonly countSets: (accountId: Uuid, pipelineId: Uuid, references: readonly string[]) => Promise<void>;
  /** `document` is read when it is first called. Throws `pipeline.not_found`, `pipeline.adoption_too_large`. */
  readonly pipeline: (
    actor: Actor,
    scope: InProject,
    identifier: string,
  ) => Promise<{ readonly saved: SavedPipeline; readonly document: () => Promise<ReadDocument> }>;
};

export type MakeAdoptionReads = () => AdoptionReads;

export const makeAdoptionReads =
  (deps: Pick<PipelineDeps, "db" | "getProject" | "runJob">): MakeAdoptionReads =>
  () => {
    let bytes = 0;
    const pipelines = new Map<string, Awaited<ReturnType<AdoptionReads["pipeline"]>>>();
    const add = (more: number): void => {
      bytes += more;
      if (bytes > MAX_BYTES) throw problem("pipeline.adoption_too_large");
    };
    const count = (text: string): void => add(Buffer.byteLength(text));

    return {
      count,
      countSets: async (accountId, pipelineId, references) => {
        if (references.length > 0) add(await sizeOfSets(deps.db, accountId, pipelineId, references));
      },
      pipeline: async (actor, scope, identifier) => {
        const key = JSON.stringify([scope.orgIdentifier, scope.projectIdentifier, identifier]);
        const known = pipelines.get(key);
        if (known) return known;
        const saved = await requirePipeline(deps, actor, scope, identifier);
        count(saved.yaml);
        let read: Promise<ReadDocument> | undefined;
        const asked = { text: saved.yaml, format: "yaml" as const, scope: placeOf(scope) };
        const found = { saved, document: () => (read ??= deps.runJob(actor.accountId, "read", asked)) };
        pipelines.set(key, found);
        return found;
      },
    };
  };
