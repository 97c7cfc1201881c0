/** Approvals that wait, for the person who may decide them. */
import { authorizeSomewhere, listed, reach } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import { fromWire, type Uuid } from "../core/ids.ts";
import type { MaybeInProject } from "../pipelines/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { GetProject } from "../projects/index.ts";
import type { PendingApproval, Refusal } from "./approval.ts";
import { createRefusalCheck } from "./approvers.ts";
import { findWaitingSteps, listWaitingRows, type WaitingRow } from "./store/pending.ts";
import { problem } from "./problems.ts";

export type PendingPage = {
  readonly approvals: readonly PendingApproval[];
  /** Where the next page goes on; undefined on the last one. */
  readonly next: Uuid | undefined;
};

export type PendingFilter = MaybeInProject & {
  /** The id of a project, in place of its identifiers. */
  readonly applicationId?: string | undefined;
  /** Only those that the actor may decide. */
  readonly isMine: boolean;
  readonly after?: string | undefined;
  readonly size: number;
};

type Deps = { readonly db: Db; readonly getProject: GetProject };

/** Rows of one statement, and of one page. A page of few matches ends early, with a cursor. */
const AT_ONCE = 200;
const SCANNED_AT_MOST = 2_000;

/**
 * The approvals that wait in the executions that the actor may see, the oldest first. Throws `project.not_found` and
 * `approval.bad_cursor`.
 */
export const listPendingApprovals =
  ({ db, getProject }: Deps) =>
  async (actor: Actor, { isMine, after, size, ...scope }: PendingFilter): Promise<PendingPage> => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_pipeline_view");
    const first = after === undefined ? undefined : fromWire(after);
    if (after !== undefined && first === undefined) throw problem("approval.bad_cursor", [after]);
    const projectId = await findProject(getProject, actor, scope);
    if (projectId === "unknown") return { approvals: [], next: undefined };
    const refusalOf = await createRefusalCheck(db, actor);
    const { orgIdentifier } = scope;
    const filter = { reach: reach(actor, "core_pipeline_view"), orgIdentifier, projectId };
    const found: (WaitingRow & { readonly refusal: Refusal | undefined })[] = [];
    let cursor = first;
    for (let scanned = 0; scanned < SCANNED_AT_MOST; scanned += AT_ONCE) {
      const rows = await listWaitingRows(db, accountId, { ...filter, after: cursor }, AT_ONCE);
      for (const row of rows) {
        const executors = [row.startedBy, row.owner].filter((id) => id !== null);
        const refusal = await refusalOf({ approval: row, executors });
        if (isMine && refusal !== undefined) continue;
        if (found.length === size)
          return { approvals: await withSteps(db, accountId, found), next: found.at(-1)?.id ?? cursor };
        found.push({ ...row, refusal });
      }
      cursor = rows.at(-1)?.id;
      if (rows.length < AT_ONCE) return { approvals: await withSteps(db, accountId, found), next: undefined };
    }
    return { approvals: await withSteps(db, accountId, found), next: cursor };
  };

export type ListPendingApprovals = ReturnType<typeof listPendingApprovals>;

type ProjectScope = Pick<PendingFilter, "applicationId" | keyof MaybeInProject>;

async function findProject(
  getProject: GetProject,
  actor: Actor,
  { applicationId, orgIdentifier, projectIdentifier }: ProjectScope,
): Promise<Uuid | "unknown" | undefined> {
  if (applicationId !== undefined) return fromWire(applicationId) ?? "unknown";
  if (projectIdentifier === undefined) return undefined;
  if (orgIdentifier === undefined) throw problem("approval.no_organization", [projectIdentifier]);
  listed(actor, "core_pipeline_view", { accountId: actor.accountId, orgIdentifier, projectIdentifier });
  return (await getProject(actor, orgIdentifier, projectIdentifier)).id;
}

/** The name of a stage stands in lists of executions; one of a chained pipeline is named by its identifier. */
async function withSteps(
  db: Db,
  accountId: Uuid,
  found: readonly (WaitingRow & { readonly refusal: Refusal | undefined })[],
): Promise<readonly PendingApproval[]> {
  const rows =
    found.length === 0
      ? []
      : await findWaitingSteps(
          db,
          accountId,
          found.map(({ id }) => id),
        );
  const steps = new Map(rows.map((row) => [row.id, row]));
  return found.map((approval) => {
    const { name = null, path = null, stageNames = {} } = steps.get(approval.id) ?? {};
    const stageIdentifier = path?.[path.indexOf("stages") + 1] ?? "";
    const stageName = Object.hasOwn(stageNames, stageIdentifier) ? stageNames[stageIdentifier] : undefined;
    return { ...approval, stepName: name ?? "", stageIdentifier, stageName: stageName ?? stageIdentifier };
  });
}
