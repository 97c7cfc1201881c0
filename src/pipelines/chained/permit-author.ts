import { authorize } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { PipelineDocument } from "../document/index.ts";
import type { WrittenAt } from "../places.ts";
import { chainsIn, placedAt } from "./place.ts";

/**
 * Who saves a stage that runs a pipeline has to be allowed to execute that pipeline: it runs with the permissions of
 * those who start what was saved. Says nothing about whether it exists. Throws `access.not_permitted`.
 */
export function permitAuthor(actor: Actor, document: PipelineDocument, at: WrittenAt): void {
  for (const chain of chainsIn(document)) {
    const { org: orgIdentifier, project: projectIdentifier, pipeline } = chain.spec;
    const place = { accountId: actor.accountId, orgIdentifier, projectIdentifier };
    try {
      authorize(actor, "core_pipeline_execute", place, pipeline);
    } catch (error) {
      throw placedAt(chain, at, error);
    }
  }
}
