import type { Actor } from "../core/actor.ts";
import type { PipelineText } from "../pipelines/index.ts";
import { problem } from "./problems.ts";
import { auditEntry, readTrigger, type PipelineKey, type TriggerDeps } from "./read-document.ts";
import { insertTrigger } from "./store/triggers.ts";
import { shownTrigger, type Trigger } from "./trigger.ts";
import { hashWebhookToken, newWebhookToken } from "./webhooks/token.ts";

export const sealIdentity = (trigger: Pick<Trigger, "accountId" | "id">): string =>
  `trigger:${trigger.accountId}:${trigger.id}`;

/**
 * Creates a trigger and its webhook. Tries the inputs on the pipeline, so that a missing input is reported now and not
 * at the first call. Resources that the inputs reference must exist at the call only. Throws `pipeline.not_found`,
 * `trigger.duplicate`, `trigger.other_scope`, and the problems of documents and inputs.
 */
export const createTrigger =
  (deps: TriggerDeps) =>
  async (actor: Actor, within: PipelineKey, sent: PipelineText): Promise<Trigger> => {
    const { accountId } = actor;
    const { pipeline, fields, identifier } = await readTrigger(deps, actor, within, sent);
    const [id, at] = [deps.newId(), deps.clock.now()];
    const token = newWebhookToken(accountId);
    const made: Omit<Trigger, "tokenSealed"> = {
      ...fields,
      ...within,
      accountId,
      id,
      projectId: pipeline.projectId,
      pipelineId: pipeline.id,
      identifier,
      version: 1,
      createdAt: at,
      updatedAt: at,
    };
    return deps.db.transaction(async (tx) => {
      const tokenSealed = deps.sealer.seal(token, sealIdentity(made), await deps.holdRootKey(tx, accountId));
      const trigger = { ...made, tokenSealed };
      if (!(await insertTrigger(tx, { ...trigger, tokenHash: hashWebhookToken(token) })))
        throw problem("trigger.duplicate", [identifier, within.pipelineIdentifier]);
      await deps.audit.record(tx, actor, {
        ...auditEntry("trigger.create", identifier, within),
        after: shownTrigger(trigger),
      });
      return trigger;
    });
  };

export type CreateTrigger = ReturnType<typeof createTrigger>;
