/** Event streams of an execution, and of the executions of a project. */
import { maybeProjectQuery, projectQuery } from "../../platform/http/request/queries.ts";
import { route, type Answer, type Call, type Route } from "../../platform/http/routes.ts";
import type { FollowProject } from "../following-project/follow-project.ts";
import { problem } from "../problems.ts";
import { BASE } from "../rest-read.ts";
import type { FollowExecution } from "./follow-execution.ts";

export type FollowVerbs = { readonly followExecution: FollowExecution; readonly followProject: FollowProject };

/** A browser does not reconnect after it. */
const NO_MORE: Answer = { kind: "empty", status: 204 };

const LONGEST_POSITION = 100;

export const followRoutes = (verbs: FollowVerbs): readonly Route[] => [
  route({
    method: "GET",
    path: `${BASE}/:planExecutionId/events`,
    operation: "execution.follow",
    access: { permission: "core_pipeline_view" },
    query: maybeProjectQuery,
    doc: {
      summary: "Follow an execution as server-sent events",
      description:
        "`snapshot` is the answer of execution.get without nodes. `nodes` and `execution` are laid over it, and `removed` " +
        "names nodes to remove. `logs` has the bytes of the logs of nodes, `lines` their lines, the last one included that " +
        "may still grow. `end` is the last event. With the id of `end` in `Last-Event-ID` the answer is 204.",
      answer: "text/event-stream",
    },
    handle: async (call) => {
      const id = call.params["planExecutionId"] ?? "";
      const run = await verbs.followExecution(call.actor, id, call.query, lastEventId(call));
      return run === "ended" ? NO_MORE : { kind: "events", run };
    },
  }),
  route({
    method: "GET",
    path: `${BASE}/summary/events`,
    operation: "execution.follow-project",
    access: { permission: "core_pipeline_view" },
    query: projectQuery,
    doc: {
      summary: "Follow the executions of a project as server-sent events",
      description:
        "`executions` has executions that were started or changed, as execution.list answers them. After `reset`, with " +
        "which a stream without `Last-Event-ID` begins, list them.",
      answer: "text/event-stream",
    },
    handle: async (call) => ({
      kind: "events",
      run: await verbs.followProject(call.actor, call.query, lastEventId(call)),
    }),
  }),
];

/** Browsers send the id of the last event that they have seen. Throws `execution.bad_position`. */
function lastEventId({ headers }: Pick<Call, "headers">): string | undefined {
  const last = headers["last-event-id"];
  if (last === undefined || last === "") return undefined;
  if (typeof last !== "string" || last.length > LONGEST_POSITION) throw problem("execution.bad_position");
  return last;
}
