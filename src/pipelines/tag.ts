import type { Actor } from "../core/actor.ts";
import { toWire } from "../core/ids.ts";
import { changedTags, type TagChange } from "../platform/document/tags.ts";
import type { Db } from "../platform/db/db.ts";
import type { RunJob } from "./jobs/run-job.ts";
import type { GetNode } from "./nodes.ts";
import { problem } from "./problems.ts";
import { findVersion } from "./store/lists.ts";
import type { UpdatePipeline } from "./update.ts";

/**
 * Changes one tag of a pipeline, which saves its next version, and answers the id of its application. Throws
 * `pipeline.no_such_id` and what UpdatePipeline throws.
 */
export type TagPipeline = (actor: Actor, id: string, to: TagChange) => Promise<string>;

type Deps = {
  readonly db: Pick<Db, "query">;
  readonly getNode: GetNode;
  readonly update: UpdatePipeline;
  readonly runJob: RunJob;
};

export const makeTagPipeline =
  ({ db, getNode, update, runJob }: Deps): TagPipeline =>
  async (actor, id, to) => {
    const pipeline = await getNode(actor, id);
    const { orgIdentifier, projectIdentifier, identifier, version } = pipeline;
    const saved = await findVersion(db, actor.accountId, pipeline.id, version);
    if (!saved) throw problem("pipeline.no_such_id", [id]);
    const tags = changedTags(pipeline.tags, to);
    const text = await runJob(actor.accountId, "setTags", { yaml: saved.yaml, tags });
    await update(actor, { orgIdentifier, projectIdentifier }, identifier, { text, format: "yaml" }, version);
    return toWire(pipeline.projectId);
  };
