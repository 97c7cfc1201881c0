/** Routes for overviews of connectors: the catalogue, counts, field values, and connectors by full name. */
import { z } from "zod";
import { ok } from "../../platform/http/response/answers.ts";
import { envelopeOf } from "../../platform/http/request/bodies.ts";
import { maybeProjectQuery } from "../../platform/http/request/queries.ts";
import { route, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import type { ListByName } from "../list/by-name.ts";
import { placeOf, PATH } from "./query.ts";
import type { CountConnectors } from "../list/count.ts";
import { allTypeNames, connectorTypes, typeNamed } from "../types/table.ts";
import { catalogueResponse, catalogueShape, connectorResponse, connectorShape } from "../wire.ts";

type Operations = { readonly count: CountConnectors; readonly listByName: ListByName };

const access = { permission: "core_connector_view" };
const names = connectorTypes.map(({ name }) => name);

const statsShape = z.strictObject({
  typeStats: z.array(z.strictObject({ type: z.enum(names), count: z.int() })),
  statusStats: z.array(
    z.strictObject({
      status: z.enum(["SUCCESS", "FAILURE", "UNKNOWN"]).describe("UNKNOWN: not tested as the connector now stands."),
      count: z.int(),
    }),
  ),
});

const fieldValuesShape = z.strictObject({ fieldValues: z.record(z.string(), z.array(z.string())) });

const NAME = /^[\w-]{22}(\/[a-zA-Z_][0-9a-zA-Z_$]{0,127}){1,3}$/;
const namesBody = z
  .array(
    z.string().regex(NAME, "takes accountIdentifier/orgIdentifier/projectIdentifier/identifier, as far as it has them"),
  )
  .max(1_000);

export const overviewRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "GET",
    path: `${PATH}/catalogue`,
    operation: "connector.catalogue",
    access,
    query: z.object({}),
    doc: { summary: "The types of connectors, by category", answer: enveloped(catalogueShape) },
    handle: async (call) => ok(call, catalogueResponse()),
  }),
  route({
    method: "GET",
    path: `${PATH}/stats`,
    operation: "connector.stats",
    access,
    query: maybeProjectQuery,
    doc: {
      summary: "How many connectors a scope has, by type and by what their last test found",
      answer: enveloped(statsShape),
    },
    handle: async (call) => ok(call, await operations.count(call.actor, placeOf(call))),
  }),
  route({
    method: "GET",
    path: `${PATH}/fieldValues`,
    operation: "connector.field-values",
    access,
    query: z.object({ connectorType: z.enum(allTypeNames, { error: `takes one of ${names.join(", ")}` }) }),
    doc: {
      summary: "The values that the fields of a type of connectors take, where they are a fixed few",
      queryExample: { connectorType: "ContainerRegistry" },
      answer: enveloped(fieldValuesShape),
    },
    handle: async (call) => ok(call, { fieldValues: typeNamed(call.query.connectorType)?.fieldValues ?? {} }),
  }),
  route({
    method: "POST",
    path: `${PATH}/listbyfqn`,
    operation: "connector.list-by-name",
    access,
    query: z.object({}),
    doc: {
      summary: "The connectors of these full names, in their order, as far as there are such",
      body: { schema: namesBody, example: ["AAAAAAAAAAAAAAAAAAAAAA/default/shop/registry"] },
      answer: enveloped(z.array(connectorShape)),
    },
    handle: async (call) => {
      const found = await operations.listByName(call.actor, envelopeOf(call, namesBody));
      return ok(call, found.map(connectorResponse));
    },
  }),
];
