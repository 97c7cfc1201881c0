import { refusalOf } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Refusal } from "../core/refused.ts";
import type { InProject } from "./pipeline.ts";

/** Undefined if the actor may see a pipeline that was found by its id, else the refusal. */
export const viewRefusal = (
  actor: Actor,
  { orgIdentifier, projectIdentifier, identifier }: InProject & { readonly identifier: string },
): Refusal | undefined =>
  refusalOf(actor, "core_pipeline_view", { accountId: actor.accountId, orgIdentifier, projectIdentifier }, identifier);
