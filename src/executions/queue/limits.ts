/** How many executions may run at the same time (docs/decisions/0038-locks.md). */
import type { Uuid } from "../../core/ids.ts";
import type { SettingValue } from "../../settings/index.ts";
import type { Active, Queued } from "../store/queue.ts";

export const SETTINGS = {
  pipeline: "concurrent_executions_per_pipeline",
  project: "concurrent_executions_per_project",
  account: "concurrent_executions_per_account",
} as const;

const LEVELS = ["pipeline", "project", "account"] as const;
export type Level = (typeof LEVELS)[number];

/** Infinity for no limit. */
export type Limits = Readonly<Record<Level, number>>;

type Scope = Pick<Queued, "orgIdentifier" | "projectIdentifier">;

export async function findLimits(settingValue: SettingValue, accountId: Uuid, scope: Scope): Promise<Limits> {
  const { orgIdentifier, projectIdentifier } = scope;
  const [pipeline, project, account] = await Promise.all([
    settingValue(accountId, SETTINGS.pipeline, { orgIdentifier, projectIdentifier }),
    settingValue(accountId, SETTINGS.project, { orgIdentifier, projectIdentifier }),
    settingValue(accountId, SETTINGS.account),
  ]);
  return { pipeline: limitOf(pipeline), project: limitOf(project), account: limitOf(account) };
}

const limitOf = (value: string): number => (Number(value) === 0 ? Number.POSITIVE_INFINITY : Number(value));

export const hasLimit = (limits: Limits): boolean => LEVELS.some((level) => Number.isFinite(limits[level]));

/** The first limit that leaves no room for an execution. */
export function reachedLimit(
  { projectId, pipelineId }: Pick<Queued, "projectId" | "pipelineId">,
  active: readonly Active[],
  limits: Limits,
): Level | undefined {
  const counted = (isOf: (one: Active) => boolean): number =>
    active.filter(isOf).reduce((sum, { count }) => sum + count, 0);
  const counts: Limits = {
    pipeline: counted((one) => one.pipelineId === pipelineId),
    project: counted((one) => one.projectId === projectId),
    account: counted(() => true),
  };
  return LEVELS.find((level) => counts[level] >= limits[level]);
}
