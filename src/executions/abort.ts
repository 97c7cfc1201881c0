import { actorEmail, type Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { Audit } from "../audit/index.ts";
import { isFinal } from "../engine/index.ts";
import { authorizeSomewhere, holdsSomewhere, permits, type Authorize } from "../access/index.ts";
import type { MaybeInProject } from "../pipelines/index.ts";
import type { GetExecution } from "./get.ts";
import { problem } from "./problems.ts";
import type { Advancing } from "./advancing/quarantine.ts";
import { restStatus } from "./wire/status.ts";

export type AbortDeps = {
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly get: GetExecution;
  readonly advancing: Advancing;
};

/**
 * Stops everything that runs, starts nothing more, rolls nothing back. Throws
 * `execution.not_found`, `execution.already_ended`, `execution.abort_again`.
 */
export type AbortExecution = (actor: Actor, id: string, scope: MaybeInProject) => Promise<void>;

/** Without the e-mail address: who may read executions need not see people's addresses. */
const nameOf = (actor: Actor): string => {
  if (actor.kind === "system") return "the system";
  return actor.name === actorEmail(actor) ? (actor.name.split("@")[0] ?? "") : actor.name;
};

export const makeAbortExecution =
  (deps: AbortDeps): AbortExecution =>
  async (actor, wireId, scope) => {
    // Whoever may start a run may stop one.
    if (!holdsSomewhere(actor, "core_pipeline_execute")) authorizeSomewhere(actor, "core_pipeline_abort");
    const execution = await deps.get(actor, wireId, scope);
    const { orgIdentifier, projectIdentifier, pipelineIdentifier } = execution;
    const place = { accountId: actor.accountId, orgIdentifier, projectIdentifier };
    if (!permits(actor, "core_pipeline_execute", place, pipelineIdentifier))
      deps.authorize(actor, "core_pipeline_abort", place, pipelineIdentifier);
    await deps.advancing(async (tx, lock) => {
      const run = await lock({ accountId: actor.accountId, id: execution.id });
      // Asked under the lock: of two aborts at once, and of an abort and the end, one is told that it came too late.
      if (!run) throw problem("execution.not_found", [wireId]);
      if (isFinal(run.before.status)) throw problem("execution.already_ended", [wireId, restStatus(run.before.status)]);
      if (run.before.aborting) throw problem("execution.abort_again", [wireId]);
      await run.give({ kind: "interrupted", at: deps.clock.now(), interrupt: "AbortAll", by: nameOf(actor) });
      await deps.audit.record(tx, actor, {
        operation: "execution.abort",
        resourceType: "PIPELINE",
        resourceId: execution.pipelineIdentifier,
        scope: { orgIdentifier, projectIdentifier },
        after: { execution: wireId, interrupt: "AbortAll" },
      });
    });
  };
