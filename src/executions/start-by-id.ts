import type { Actor } from "../core/actor.ts";
import { fromWire } from "../core/ids.ts";
import { authorizeSomewhere, refusalOf } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { StageSelection } from "../pipelines/index.ts";
import { storable } from "./marks.ts";
import type { Idempotency } from "./idempotency.ts";
import { problem } from "./problems.ts";
import type { RunPipeline } from "./start.ts";
import type { Started } from "./started.ts";
import { findPipelinePath } from "./store/lists.ts";

export type StartById = {
  readonly applicationId: string;
  readonly pipelineId: string;
  /** Values of variables of the pipeline that are runtime inputs; read, and refused, after the permission. */
  readonly variables: () => readonly { readonly name: string; readonly value: string }[];
  readonly notes: string | null;
  readonly selection?: StageSelection | undefined;
  readonly idempotency?: Idempotency | undefined;
};

/** A run by ids, with the values of the pipeline's variables. Throws `execution.no_pipeline`, `execution.bad_start` and the problems of a run. */
export type StartPipelineById = (actor: Actor, start: StartById) => Promise<Started>;

const NOTES_AT_MOST = 5_000;

export const makeStartPipelineById =
  (deps: { db: Db; run: RunPipeline }): StartPipelineById =>
  async (actor, { applicationId, pipelineId, notes, selection, idempotency, ...start }) => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_pipeline_execute");
    const variables = start.variables();
    if (notes !== null && notes.length > NOTES_AT_MOST)
      throw problem("execution.bad_start", [`notes have at most ${NOTES_AT_MOST} characters`]);
    const [projectUuid, pipelineUuid] = [fromWire(applicationId), fromWire(pipelineId)];
    const path = projectUuid && pipelineUuid && (await findPipelinePath(deps.db, accountId, projectUuid, pipelineUuid));
    const refusal = path && refusalOf(actor, "core_pipeline_view", { accountId, ...path }, path.identifier);
    if (!path || refusal) throw problem("execution.no_pipeline", [pipelineId, applicationId], { refusal });
    const { identifier, ...scope } = path;
    const document = { pipeline: { identifier, variables } };
    const input = variables.length === 0 ? undefined : { text: JSON.stringify(document), format: "json" as const };
    return deps.run(actor, scope, identifier, input, {
      ...{ notes: notes === null ? null : storable(notes), pipelineId: pipelineUuid, selection, idempotency },
    });
  };
