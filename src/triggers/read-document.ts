/** Reads and checks the document of a trigger, for creating and replacing one. */
import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId } from "../core/ids.ts";
import { authorOf } from "../identity/index.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize, Permits } from "../access/index.ts";
import type { HoldRootKey, RequireRunAs } from "../identity/index.ts";
import {
  keptText,
  type GetPipeline,
  type InProject,
  type InputsOfSets,
  type PipelineText,
  type TryInputs,
} from "../pipelines/index.ts";
import type { Sealer } from "../platform/crypto/seal.ts";
import type { Db } from "../platform/db/db.ts";
import { parseDocument, type Doc } from "../platform/document/document.ts";
import { validate } from "../platform/document/validate.ts";
import { inputOf, triggerBody, type TriggerBody } from "./document.ts";
import { problem } from "./problems.ts";
import type { Trigger } from "./trigger.ts";

export type TriggerDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly permits: Permits;
  readonly getPipeline: GetPipeline;
  readonly tryInputs: TryInputs;
  readonly mergeInputSets: InputsOfSets;
  readonly requireRunAs: RequireRunAs;
  readonly sealer: Sealer;
  readonly holdRootKey: HoldRootKey;
  readonly clock: Clock;
  readonly newId: NewId;
};

export type PipelineKey = InProject & { readonly pipelineIdentifier: string };

type Fields = Pick<Trigger, "name" | "description" | "tags" | "enabled" | "yaml" | "author" | "runAs">;

/**
 * Parses the document and tries its inputs on the pipeline. Throws the problems of `createTrigger` except the
 * duplicate.
 */
export async function readTrigger(
  deps: TriggerDeps,
  actor: Actor,
  { pipelineIdentifier, ...scope }: PipelineKey,
  sent: PipelineText,
): Promise<{
  readonly pipeline: Awaited<ReturnType<TryInputs>>;
  readonly doc: Doc;
  readonly identifier: string;
  readonly fields: Fields;
}> {
  const { accountId } = actor;
  deps.authorize(actor, "core_pipeline_edit", { accountId, ...scope }, pipelineIdentifier);
  deps.authorize(actor, "core_pipeline_execute", { accountId, ...scope }, pipelineIdentifier);
  const doc = parseDocument(sent.text, { format: sent.format });
  const body = validate(triggerBody, doc, { root: "trigger" });
  requireSame(body, { ...scope, pipelineIdentifier });
  const input = await deps.mergeInputSets(actor, scope, pipelineIdentifier, body.inputSetRefs ?? [], inputOf(body));
  const pipeline = await deps.tryInputs(actor, scope, pipelineIdentifier, input);
  const { identifier, name, description, tags, enabled } = body;
  const { orgIdentifier, projectIdentifier } = scope;
  const runAs = body.runAs ? await deps.requireRunAs(actor, { orgIdentifier, projectIdentifier }, body.runAs) : null;
  const author = authorOf(actor);
  return {
    pipeline,
    doc,
    identifier,
    fields: { name, description, tags, enabled, yaml: keptText(sent), author, runAs },
  };
}

function requireSame(body: TriggerBody, query: PipelineKey): void {
  for (const field of ["orgIdentifier", "projectIdentifier", "pipelineIdentifier"] as const) {
    const given = body[field] ?? query[field];
    if (given !== query[field]) throw problem("trigger.other_scope", [field, given, query[field]]);
  }
}

/** The common fields of the audit entries of triggers. */
export const auditEntry = (operation: string, identifier: string, within: PipelineKey) => ({
  operation,
  resourceType: "PIPELINE",
  resourceId: `${within.pipelineIdentifier}/${identifier}`,
  scope: { orgIdentifier: within.orgIdentifier, projectIdentifier: within.projectIdentifier },
});
