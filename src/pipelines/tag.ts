import type { Actor } from "../core/actor.ts";
import { toWire } from "../core/ids.ts";
import { changedTags, withTags, type TagChange } from "../platform/document/tags.ts";
import type { GetNode } from "./nodes.ts";
import type { UpdatePipeline } from "./update.ts";

/**
 * Changes one tag of a pipeline, which saves its next version, and answers the id of its application. Throws
 * `pipeline.no_such_id` and what UpdatePipeline throws.
 */
export type TagPipeline = (actor: Actor, id: string, to: TagChange) => Promise<string>;

export const makeTagPipeline =
  ({ getNode, update }: { readonly getNode: GetNode; readonly update: UpdatePipeline }): TagPipeline =>
  async (actor, id, to) => {
    const pipeline = await getNode(actor, id);
    const { orgIdentifier, projectIdentifier, identifier, version, yaml = "" } = pipeline;
    const text = withTags(yaml, "pipeline", changedTags(pipeline.tags, to));
    await update(actor, { orgIdentifier, projectIdentifier }, identifier, { text, format: "yaml" }, version);
    return toWire(pipeline.projectId);
  };
