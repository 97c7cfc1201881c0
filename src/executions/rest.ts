import { z } from "zod";
import type { Authorize } from "../access/index.ts";
import { text } from "../platform/http/response/answers.ts";
import { maybeProjectQuery, wholeNumber } from "../platform/http/request/queries.ts";
import { route, type Answer, type Call, type Route } from "../platform/http/routes.ts";
import type { GetChanges } from "./changes/changes.ts";
import { changesRoute } from "./changes/rest.ts";
import type { GetOverview } from "./overview/overview.ts";
import { overviewRoute } from "./overview/rest.ts";
import { deploymentRoutes, type DeploymentVerbs } from "./deployments/rest.ts";
import type { Download, DownloadLines, DownloadLog, FollowLog } from "./logs/logs.ts";
import { followRoutes, type FollowVerbs } from "./following/rest.ts";
import type { LogService } from "./logs/service.ts";
import { viewerRoutes, type ViewerVerbs } from "./logs/viewer/rest.ts";
import { inputRoutes, type InputVerbs } from "./inputs/rest.ts";
import { problem } from "./problems.ts";
import { BASE, readRoutes, type ReadVerbs } from "./rest-read.ts";
import { jsonLines, logServiceRoutes } from "./logs/rest.ts";
import { refusedRoutes } from "./rest-refused.ts";
import { runRoutes, type RunVerbs } from "./rest-run.ts";
import { stageRoutes, type StageVerbs } from "./rest-stages.ts";
import { retriesRoutes, type RetryVerbs } from "./retry/rest.ts";
import { executeV1Routes } from "./rest-v1.ts";
import { statisticsRoute } from "./statistics/rest.ts";
import type { GetStatistics } from "./statistics/statistics.ts";

type LogVerbs = {
  readonly downloadLog: DownloadLog;
  readonly downloadLines: DownloadLines;
  readonly followLog: FollowLog;
};
type Verbs = RunVerbs &
  RetryVerbs &
  StageVerbs &
  ReadVerbs &
  LogVerbs &
  FollowVerbs &
  ViewerVerbs &
  InputVerbs &
  DeploymentVerbs & {
    readonly authorize: Authorize;
    readonly logService: LogService;
    readonly statistics: GetStatistics;
    readonly overview: GetOverview;
    readonly changes: GetChanges;
  };

const logQuery = maybeProjectQuery.extend({
  nodeExecutionId: z.string().optional(),
  attempt: wholeNumber().describe("With nodeExecutionId: the log of this attempt, from 1.").optional(),
  from: wholeNumber().default(0),
  limit: wholeNumber().optional(),
});

const logRoutes = (verbs: LogVerbs): readonly Route[] => [
  route({
    method: "GET",
    path: `${BASE}/:planExecutionId/logs`,
    operation: "execution.logs",
    access: { permission: "core_pipeline_view" },
    isLink: true,
    query: logQuery.extend({ format: z.enum(["text", "json"], { error: "takes text or json" }).default("text") }),
    doc: {
      summary: "Download the log of an execution, or of one node",
      description:
        "With format=json each line of the log is a line of JSON with its time, its step and its text (application/x-ndjson).",
      answer: ["text/plain", "application/x-ndjson"],
    },
    handle: async (call) => {
      const { nodeExecutionId, attempt, from, limit, format, ...scope } = call.query;
      const [id, range] = [call.params["planExecutionId"] ?? "", { nodeExecutionId, attempt, from, limit }];
      if (format === "text") return plainText(await verbs.downloadLog(call.actor, id, scope, range));
      return jsonLines(await verbs.downloadLines(call.actor, id, scope, range));
    },
  }),
  route({
    method: "GET",
    path: `${BASE}/:planExecutionId/logs/stream`,
    operation: "execution.follow-logs",
    access: { permission: "core_pipeline_view" },
    query: logQuery,
    doc: { summary: "Follow the log of an execution as server-sent events", answer: "text/event-stream" },
    handle: async (call) => {
      const { nodeExecutionId, attempt, from, limit: _, ...scope } = call.query;
      const range = { nodeExecutionId, attempt, from: resumedFrom(call) ?? from };
      return {
        kind: "events",
        run: await verbs.followLog(call.actor, call.params["planExecutionId"] ?? "", scope, range),
      };
    },
  }),
];

const plainText = ({ body, name }: Download): Answer => ({ ...text(body), fileName: `${name}.log` });

/** Browsers and other clients of event streams send the id of the last event they saw. */
function resumedFrom(call: Pick<Call, "headers">): number | undefined {
  const last = call.headers["last-event-id"];
  if (last === undefined || last === "") return undefined;
  if (typeof last !== "string" || !/^\d{1,15}$/.test(last))
    throw problem("execution.bad_offset", ["Last-Event-ID is not the id of an event of this stream."]);
  return Number(last);
}

export const executionRoutes = (verbs: Verbs): readonly Route[] => [
  ...runRoutes(verbs),
  ...retriesRoutes(verbs),
  ...stageRoutes(verbs),
  ...executeV1Routes(verbs.run),
  ...readRoutes(verbs),
  ...inputRoutes(verbs),
  ...logRoutes(verbs),
  ...viewerRoutes(verbs),
  ...followRoutes(verbs),
  statisticsRoute(verbs.statistics),
  overviewRoute(verbs.overview),
  changesRoute(verbs.changes),
  ...deploymentRoutes(verbs),
  ...logServiceRoutes(verbs.logService),
  ...refusedRoutes(verbs),
];
