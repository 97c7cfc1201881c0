import { toWire } from "../core/ids.ts";
import type { RecentRuns } from "../pipelines/index.ts";
import type { Db } from "../platform/db/db.ts";
import { findRecent } from "./store/recent.ts";
import { restStatus } from "./wire/status.ts";

const SHOWN = 10;

/** For lists of pipelines, which have asked for the permission already. */
export const makeRecentRuns =
  (deps: { readonly db: Db }): RecentRuns =>
  async (accountId, pipelineIds) => {
    if (pipelineIds.length === 0) return new Map();
    const rows = await findRecent(deps.db, accountId, pipelineIds, SHOWN);
    const runs = Map.groupBy(rows, ({ pipelineId }) => pipelineId);
    return new Map(
      [...runs].map(([pipelineId, ofPipeline]) => [
        pipelineId,
        ofPipeline.map((row) => ({
          planExecutionId: toWire(row.id),
          status: restStatus(row.status),
          startTs: row.startedAt,
          endTs: row.endedAt,
          runSequence: row.runSequence,
          triggerType: row.triggerType,
          username: row.triggeredBy.name,
          email: row.triggeredBy.email,
        })),
      ]),
    );
  };
