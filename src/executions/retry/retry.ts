import { isDeepStrictEqual } from "node:util";
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { authorizeSomewhere, type Authorize } from "../../access/index.ts";
import { nodesToReuse, type NodeState, type Plan, type RetryStart, withDefinitionsOf } from "../../engine/index.ts";
import type { InProject, MaybeInProject } from "../../pipelines/index.ts";
import type { Db } from "../../platform/db/db.ts";
import { parseDocument } from "../../platform/document/document.ts";
import type { ExecutionDetail } from "../execution.ts";
import type { GetExecution } from "../get.ts";
import type { Idempotency } from "../idempotency.ts";
import { problem } from "../problems.ts";
import { inputsOf, principalsOfRun, selectionOf, triggerOf, type TriggersOf } from "../rerun.ts";
import type { RunInput, RunPipeline } from "../start.ts";
import type { Started } from "../started.ts";
import type { Retry } from "../starts/start-execution.ts";
import { findInputs } from "../store/lists.ts";
import { whyNoRetry } from "./can-retry.ts";

export type RetryRequest = {
  readonly executionId: string;
  /** The pipeline and its project, or what the caller says of the project. */
  readonly of: (InProject & { readonly pipelineIdentifier: string }) | MaybeInProject;
  readonly start: RetryStart;
  readonly idempotency?: Idempotency | undefined;
};

/** The retry, and the place of its pipeline. */
export type Retried = Started & Pick<ExecutionDetail, "orgIdentifier" | "projectIdentifier" | "pipelineIdentifier">;

/**
 * A run of the version and the inputs of an earlier one that takes over what has passed before its start. Principals are
 * those of a rerun. Throws `execution.not_found`, `execution.not_of_pipeline`, `execution.retry_refused`,
 * `execution.bad_retry`, `execution.trigger_deleted` and the problems of a run.
 */
export type RetryExecution = (actor: Actor, request: RetryRequest, input: RunInput | undefined) => Promise<Retried>;

type Deps = {
  readonly db: Db;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly get: GetExecution;
  readonly run: RunPipeline;
} & TriggersOf;

export const makeRetryExecution =
  (deps: Deps): RetryExecution =>
  async (actor, { executionId, of, start, idempotency }, input) => {
    const { accountId } = actor;
    const { orgIdentifier, projectIdentifier } = of;
    if ("pipelineIdentifier" in of)
      deps.authorize(actor, "core_pipeline_execute", { accountId, ...scopeOf(of) }, of.pipelineIdentifier);
    else authorizeSomewhere(actor, "core_pipeline_execute");
    const original = await deps.get(actor, executionId, { orgIdentifier, projectIdentifier });
    if ("pipelineIdentifier" in of && of.pipelineIdentifier !== original.pipelineIdentifier)
      throw problem("execution.not_of_pipeline", [executionId, of.pipelineIdentifier]);
    const within = scopeOf(original);
    deps.authorize(actor, "core_pipeline_execute", { accountId, ...within }, original.pipelineIdentifier);
    const former = await findInputs(deps.db, accountId, original.id);
    const given = inputsOf(former?.inputYaml);
    requireSame(executionId, input, given);
    const trigger = triggerOf(original);
    const principals = await principalsOfRun(deps, accountId, { original, former, hasOwnInputs: false });
    const started = await deps.run(actor, within, original.pipelineIdentifier, given, {
      ...{ trigger, principals, idempotency, pipelineId: original.pipelineId, version: original.pipelineVersion },
      selection: selectionOf(original, former),
      retry: () => {
        const why = whyNoRetry(original, deps.clock.now());
        if (why !== undefined) throw problem("execution.retry_refused", [executionId, why]);
        return retryOf(original, executionId, start);
      },
    });
    return { ...started, ...within, pipelineIdentifier: original.pipelineIdentifier };
  };

const scopeOf = ({ orgIdentifier, projectIdentifier }: InProject): InProject => ({ orgIdentifier, projectIdentifier });

function retryOf(original: ExecutionDetail, wireId: string, start: RetryStart): Retry {
  const { id, plan, nodes } = original;
  const refused = (why: string) => problem("execution.bad_retry", [wireId, why]);
  if (plan.root === "") throw refused("its plan cannot be read");
  const reused = nodesToReuse({ plan, nodes }, start);
  if ("fault" in reused) throw refused(reused.fault);
  const reuse = (newPlan: Plan): readonly NodeState[] => {
    const moved = withDefinitionsOf(reused, plan, newPlan);
    if (!moved) throw refused("the stages before its start are planned differently by now");
    return moved.map((node) => ({ ...node, origin: node.origin ?? { execution: id, node: node.id } }));
  };
  return { parentId: id, rootId: original.retryRootId ?? id, reuse };
}

/** Throws `execution.bad_retry` for inputs that are not those of the execution. */
function requireSame(wireId: string, input: RunInput | undefined, given: RunInput | undefined): void {
  if (input === undefined || input.text.trim() === given?.text.trim()) return;
  const other = differenceOf(valuesIn(input), valuesIn(given));
  if (other === undefined) return;
  throw problem("execution.bad_retry", [
    wireId,
    `the body has another input than it had, '${other.join(".").slice(0, 200)}'. ` +
      "Leave the body out, or run the pipeline again with other inputs",
  ]);
}

/** The path of the first value that the two do not share. */
function differenceOf(one: unknown, other: unknown): readonly string[] | undefined {
  if (isDeepStrictEqual(one, other)) return undefined;
  if (typeof one !== "object" || typeof other !== "object" || !one || !other) return [];
  const [mine, theirs] = [new Map(Object.entries(one)), new Map(Object.entries(other))];
  for (const key of new Set([...mine.keys(), ...theirs.keys()])) {
    const below = differenceOf(mine.get(key), theirs.get(key));
    if (below) return [key, ...below];
  }
  return [];
}

/** What a document gives beside the name of its pipeline. */
function valuesIn(input: RunInput | undefined): unknown {
  const document = input && parseDocument(input.text, { format: input.format }).value;
  const { pipeline = {}, ...others } = (document ?? {}) as { readonly pipeline?: object | null };
  return { ...others, ...pipeline, identifier: null };
}
