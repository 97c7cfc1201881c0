import { permits } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { InProject } from "./pipeline.ts";

/** Whether the actor may see a pipeline that was found by its id. */
export const isSeen = (
  actor: Actor,
  { orgIdentifier, projectIdentifier, identifier }: InProject & { readonly identifier: string },
): boolean =>
  permits(actor, "core_pipeline_view", { accountId: actor.accountId, orgIdentifier, projectIdentifier }, identifier);
