/** Routes of deployments. */
import { z } from "zod";
import { fromWire, toWire } from "../../core/ids.ts";
import { moment, maybeText, projectQuery } from "../../platform/http/request/queries.ts";
import { ok } from "../../platform/http/response/answers.ts";
import { pageSize } from "../../platform/http/response/pages.ts";
import { enveloped, epochMs, wireId } from "../../platform/http/response/shapes.ts";
import { route, type Route } from "../../platform/http/routes.ts";
import { problem } from "../problems.ts";
import { rangeQuery } from "../statistics/wire.ts";
import type { DeploymentCursor, Target } from "./deployment.ts";
import type { ListDeployedServices, ListDeployments } from "./list.ts";
import type { GetMeasures } from "./measures.ts";
import {
  deployedShape,
  deployedToWire,
  deploymentShape,
  deploymentToWire,
  measuresShape,
  measuresToWire,
} from "./wire.ts";

export type DeploymentVerbs = {
  readonly listDeployments: ListDeployments;
  readonly listDeployedServices: ListDeployedServices;
  readonly measures: GetMeasures;
};

const BASE = "/pipeline/api/deployments";
const access = { permission: "core_pipeline_view" };
const LARGEST_PAGE = 100;

const target = {
  environmentIdentifier: maybeText("environmentIdentifier").describe("As stages refer to it, as in org.live."),
  serviceIdentifier: maybeText("serviceIdentifier").describe("As stages refer to it, as in org.web."),
};

export const deploymentRoutes = (verbs: DeploymentVerbs): readonly Route[] => [
  listRoute(verbs),
  servicesRoute(verbs),
  measuresRoute(verbs),
];

const listRoute = ({ listDeployments }: DeploymentVerbs): Route =>
  route({
    method: "GET",
    path: BASE,
    operation: "deployment.list",
    access,
    query: projectQuery.extend({
      ...target,
      size: pageSize(LARGEST_PAGE).default(20),
      lastSeenDeploymentId: maybeText("lastSeenDeploymentId"),
      lastSeenStartTime: moment().optional(),
    }),
    doc: {
      summary: "List the deployments of a service, to an environment, or both, the newest first",
      description: "The next page is asked for with the two cursors that this one ends with.",
      queryExample: { environmentIdentifier: "staging" },
      answer: enveloped(
        z.strictObject({
          content: z.array(deploymentShape),
          size: z.int(),
          lastSeenDeploymentId: wireId.nullable(),
          lastSeenStartTime: epochMs.nullable(),
        }),
      ),
    },
    handle: async (call) => {
      const { size } = call.query;
      const found = await listDeployments(call.actor, call.query, call.query, { size, beyond: cursorOf(call.query) });
      const last = found.length === size ? found.at(-1) : undefined;
      return ok(call, {
        content: found.map(deploymentToWire),
        size,
        lastSeenDeploymentId: last ? toWire(last.id) : null,
        lastSeenStartTime: last?.startedAt ?? null,
      });
    },
  });

type Cursors = { readonly lastSeenDeploymentId?: string | undefined; readonly lastSeenStartTime?: number | undefined };

function cursorOf({ lastSeenDeploymentId, lastSeenStartTime: startedAt }: Cursors): DeploymentCursor | undefined {
  if (lastSeenDeploymentId === undefined && startedAt === undefined) return undefined;
  const id = fromWire(lastSeenDeploymentId ?? "");
  if (id === undefined || startedAt === undefined) throw problem("execution.bad_deployment_cursor");
  return { id, startedAt };
}

const servicesRoute = ({ listDeployedServices }: DeploymentVerbs): Route =>
  route({
    method: "GET",
    path: `${BASE}/services`,
    operation: "deployment.list-services",
    access,
    query: projectQuery.extend({
      ...target,
      size: pageSize(LARGEST_PAGE).default(LARGEST_PAGE),
      lastSeenEnvironment: maybeText("lastSeenEnvironment"),
      lastSeenService: maybeText("lastSeenService"),
    }),
    doc: {
      summary: "List which service runs in which environment, and since when",
      description: "Ordered by environment and service. The next page is asked for with the two cursors.",
      answer: enveloped(
        z.strictObject({
          content: z.array(deployedShape),
          size: z.int(),
          lastSeenEnvironment: z.string().nullable(),
          lastSeenService: z.string().nullable(),
        }),
      ),
    },
    handle: async (call) => {
      const { size, lastSeenEnvironment: environment, lastSeenService: service } = call.query;
      if ((environment === undefined) !== (service === undefined)) throw problem("execution.bad_target_cursor");
      const after: Target | undefined =
        environment === undefined || service === undefined ? undefined : { environment, service };
      const { services, next } = await listDeployedServices(call.actor, call.query, call.query, { size, after });
      return ok(call, {
        content: services.map(deployedToWire),
        size,
        lastSeenEnvironment: next?.environment ?? null,
        lastSeenService: next?.service ?? null,
      });
    },
  });

const measuresRoute = ({ measures }: DeploymentVerbs): Route =>
  route({
    method: "GET",
    path: `${BASE}/measures`,
    operation: "deployment.measures",
    access,
    query: rangeQuery.extend(target),
    doc: {
      summary: "The four measures of delivery (DORA) over deployments to production environments",
      description: "Of the deployments that ended in the time. One that was aborted or rejected does not count.",
      queryExample: { startTime: "1767225600000", endTime: "1767830400000", timeZone: "Europe/Berlin" },
      answer: enveloped(measuresShape),
    },
    handle: async (call) => {
      const { timeZone } = call.query;
      return ok(call, { timeZone, ...measuresToWire(await measures(call.actor, call.query, call.query)) });
    },
  });
