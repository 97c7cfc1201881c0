/** The route of resources that pipelines and others name: which ones do. */
import { z } from "zod";
import { ok } from "../../platform/http/response/answers.ts";
import { ngPage, ngPageQuery, ngPageShape, ngWindow } from "../../platform/http/response/pages.ts";
import { maybeProjectQuery } from "../../platform/http/request/queries.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import { route, type PrivateRoute } from "../../platform/http/routes.ts";
import type { ListUsedBy } from "./used-by.ts";

const usedByShape = ngPageShape(
  z.strictObject({
    type: z.enum(["CONNECTOR", "PIPELINE", "SECRET"]),
    identifier: z.string(),
    orgIdentifier: z.string().nullable(),
    projectIdentifier: z.string().nullable(),
  }),
).extend({ hidden: z.int().describe("How many more name it that the caller may not see.") });

type Resource = {
  readonly noun: "connector" | "environment" | "secret" | "service";
  /** Of all resources of the kind. */
  readonly path: string;
  /** Of an example. */
  readonly identifier: string;
};

export const usedByRoute = ({ noun, path, identifier }: Resource, listUsedBy: ListUsedBy): PrivateRoute =>
  route({
    method: "GET",
    path: `${path}/:identifier/usedBy`,
    operation: `${noun}.used-by`,
    access: { permission: `core_${noun}_view` },
    query: maybeProjectQuery.extend(ngPageQuery(100).shape),
    doc: {
      summary: `List what names the ${noun}`,
      description:
        "Pipelines by their newest version, connectors and secrets; inputs of triggers and input sets are not among them.",
      params: { identifier },
      answer: enveloped(usedByShape),
    },
    handle: async (call) => {
      const { orgIdentifier = null, projectIdentifier = null } = call.query;
      const key = { orgIdentifier, projectIdentifier, identifier: call.params["identifier"] ?? "" };
      const found = await listUsedBy(call.actor, key, ngWindow(call.query));
      const page = await ngPage(found, ({ type, identifier, orgIdentifier, projectIdentifier }) => ({
        ...{ type, identifier, orgIdentifier, projectIdentifier },
      }));
      return ok(call, { ...page, hidden: found.hidden });
    },
  });
