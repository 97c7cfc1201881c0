/**
 * Routes of `/log-service/blob`, for clients that name a log by a prefix (prefix.ts) instead of the execution's id.
 * service.ts finds the execution, and logs.ts reads its log.
 */
import { z } from "zod";
import { toWire } from "../../core/ids.ts";
import { json } from "../../platform/http/response/answers.ts";
import { route, type Answer, type Route } from "../../platform/http/routes.ts";
import type { Download } from "./logs.ts";
import type { LogService } from "./service.ts";

const PATH = "/log-service/blob";
/** A log as an attachment. */
export const jsonLines = ({ body, name }: Download): Answer => ({
  ...{ kind: "text", status: 200, type: "application/x-ndjson", body },
  fileName: `${name}.ndjson`,
});

const query = z.object({ prefix: z.string({ error: "is required" }).max(1_024, "takes at most 1024 characters") });

export const logServiceRoutes = (service: LogService): readonly Route[] => [
  route({
    method: "POST",
    path: `${PATH}/download`,
    operation: "log-service.download",
    access: { permission: "core_pipeline_view" },
    account: "accountID",
    query,
    doc: {
      summary: "Ask for the log of an execution",
      description:
        "The prefix is `{account}/pipeline/{pipeline}/{runSequence}/-{planExecutionId}`, or `accountId:…/orgId:…/projectId:…/pipelineId:…/runSequence:…` followed by the levels of a stage or step. The log is ready at once: the link answers JSON lines as far as they are written.",
      answer: z.strictObject({ link: z.string(), status: z.literal("success") }),
    },
    handle: async (call) => {
      const { prefix } = call.query;
      await service.check(call.actor, prefix);
      const own = new URLSearchParams({ accountID: toWire(call.accountId), prefix }).toString();
      return json(200, { link: `/gateway${PATH}/lines?${own}`, status: "success" });
    },
  }),
  route({
    method: "GET",
    path: `${PATH}/lines`,
    operation: "log-service.lines",
    access: { permission: "core_pipeline_view" },
    account: "accountID",
    query,
    isLink: true,
    doc: { summary: "Read the log of an execution as JSON lines", answer: "application/x-ndjson" },
    handle: async (call) => jsonLines(await service.download(call.actor, call.query.prefix)),
  }),
];
