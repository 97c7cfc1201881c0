import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId } from "../core/ids.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize, Permits } from "../access/index.ts";
import type { HoldRootKey } from "../identity/index.ts";
import type { GetPipeline, InProject, InputsOfSets, TryInputs } from "../pipelines/index.ts";
import type { Sealer } from "../platform/crypto/seal.ts";
import type { Db } from "../platform/db/db.ts";
import { parseDocument } from "../platform/document/document.ts";
import { validate } from "../platform/document/validate.ts";
import { authorityOf } from "./authority.ts";
import { inputOf, triggerBody, type TriggerBody } from "./document.ts";
import { problem } from "./problems.ts";
import { findTrigger, insertTrigger } from "./store.ts";
import type { Trigger } from "./trigger.ts";
import { hashWebhookToken, newWebhookToken } from "./webhook-token.ts";

export type TriggerDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly permits: Permits;
  readonly getPipeline: GetPipeline;
  readonly tryInputs: TryInputs;
  readonly mergeInputSets: InputsOfSets;
  readonly sealer: Sealer;
  readonly holdRootKey: HoldRootKey;
  readonly clock: Clock;
  readonly newId: NewId;
};

export const sealedFor = (trigger: Pick<Trigger, "accountId" | "id">): string =>
  `trigger:${trigger.accountId}:${trigger.id}`;

/**
 * Makes a trigger and its webhook. Its inputs are tried on the pipeline at once,
 * so that a missing one is found here and not at the first call; what they
 * name has to exist when it is called, not yet now. Throws
 * `pipeline.not_found`, `trigger.duplicate`, `trigger.other_scope`, and the
 * problems of documents and inputs.
 */
export type CreateTrigger = (
  actor: Actor,
  scope: InProject,
  pipelineIdentifier: string,
  yaml: string,
  format: "yaml" | "json",
) => Promise<Trigger>;

export const makeCreateTrigger =
  (deps: TriggerDeps): CreateTrigger =>
  async (actor, scope, pipelineIdentifier, yaml, format) => {
    const { accountId } = actor;
    deps.authorize(actor, "core_pipeline_edit", { accountId, ...scope }, pipelineIdentifier);
    deps.authorize(actor, "core_pipeline_execute", { accountId, ...scope }, pipelineIdentifier);
    const body = validate(triggerBody, parseDocument(yaml, { format }), { root: "trigger" });
    requireSame(body, { ...scope, pipelineIdentifier });
    const input = await deps.mergeInputSets(actor, scope, pipelineIdentifier, body.inputSetRefs ?? [], inputOf(body));
    const pipeline = await deps.tryInputs(actor, scope, pipelineIdentifier, input);
    const [id, at] = [deps.newId(), deps.clock.now()];
    const token = newWebhookToken(accountId);
    const { identifier, name, description, tags, enabled } = body;
    const made: Omit<Trigger, "tokenSealed"> = {
      accountId,
      id,
      projectId: pipeline.projectId,
      ...scope,
      pipelineId: pipeline.id,
      pipelineIdentifier,
      identifier,
      name,
      description,
      tags,
      enabled,
      yaml,
      authority: authorityOf(actor, scope),
      version: 1,
      createdAt: at,
      updatedAt: at,
    };
    return deps.db.transaction(async (tx) => {
      const tokenSealed = deps.sealer.seal(token, sealedFor(made), await deps.holdRootKey(tx, accountId));
      const trigger = { ...made, tokenSealed };
      if (!(await insertTrigger(tx, { ...trigger, tokenHash: hashWebhookToken(token) })))
        throw problem("trigger.duplicate", [identifier, pipelineIdentifier]);
      await deps.audit.record(tx, actor, {
        operation: "trigger.create",
        resourceType: "PIPELINE",
        resourceId: `${pipelineIdentifier}/${identifier}`,
        scope,
        after: { name, description, tags, enabled, yaml },
      });
      return trigger;
    });
  };

function requireSame(body: TriggerBody, query: InProject & { readonly pipelineIdentifier: string }): void {
  for (const field of ["orgIdentifier", "projectIdentifier", "pipelineIdentifier"] as const) {
    const given = body[field] ?? query[field];
    if (given !== query[field]) throw problem("trigger.other_scope", [field, given, query[field]]);
  }
}

/** Throws `pipeline.not_found`, `trigger.not_found`. */
export type GetTrigger = (
  actor: Actor,
  scope: InProject,
  pipelineIdentifier: string,
  identifier: string,
) => Promise<Trigger>;

export const makeGetTrigger =
  (deps: TriggerDeps): GetTrigger =>
  async (actor, scope, pipelineIdentifier, identifier) => {
    const pipeline = await deps.getPipeline(actor, scope, pipelineIdentifier);
    const trigger = await findTrigger(deps.db, actor.accountId, pipeline.id, identifier);
    if (!trigger) throw problem("trigger.not_found", [identifier, pipelineIdentifier]);
    return trigger;
  };
