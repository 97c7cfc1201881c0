import type { Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import type { SettingValue } from "../../settings/index.ts";
import { countActive, findPositions } from "../store/queue.ts";
import { findLimits, reachedLimit, SETTINGS } from "./limits.ts";

type Asked = {
  readonly id: Uuid;
  readonly applicationId: Uuid;
  readonly pipelineId: Uuid;
  readonly orgIdentifier: string;
  readonly projectIdentifier: string;
};

/** Why an execution has not begun: the limit, and its position among those that wait because of it. */
export const findQueueReason =
  ({ db, settingValue }: { readonly db: Db; readonly settingValue: SettingValue }) =>
  async (accountId: Uuid, execution: Asked): Promise<string> => {
    const { id, applicationId: projectId, pipelineId } = execution;
    const limits = await findLimits(settingValue, accountId, execution);
    const level = reachedLimit({ projectId, pipelineId }, await countActive(db, accountId), limits);
    const positions = await findPositions(db, accountId, id);
    const position = `Position in the queue: ${positions?.[level ?? "account"] ?? 1}.`;
    if (level === undefined) return `Starts soon. ${position}`;
    const [count, what] = [limits[level], limits[level] === 1 ? "execution" : "executions"];
    return `Queued: ${count} ${what} of the ${level} may run at the same time (setting ${SETTINGS[level]}). ${position}`;
  };
