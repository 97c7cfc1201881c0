import { z } from "zod";
import { usedByRoute, type ListUsedBy } from "../access/index.ts";
import type { Uuid } from "../core/ids.ts";
import type { Place } from "../core/reference.ts";
import { ok } from "../platform/http/response/answers.ts";
import { ifMatch } from "../platform/http/request/if-match.ts";
import { ngPage, ngPageShape, springPageQuery } from "../platform/http/response/pages.ts";
import { maybeProjectQuery, sortOrders } from "../platform/http/request/queries.ts";
import { route, type Answer, type Call, type Route } from "../platform/http/routes.ts";
import { enveloped } from "../platform/http/response/shapes.ts";
import { readBody, type ReadEntity } from "./wire/body.ts";
import type { Entity, Environment, Fields, Service } from "./entity.ts";
import type { CreateEntity } from "./entities/create.ts";
import type { DeleteEntity } from "./entities/delete.ts";
import type { GetEntity } from "./entities/get.ts";
import type { ListEntities } from "./entities/list.ts";
import type { UpdateEntity } from "./entities/update.ts";
import type { UpsertEntity } from "./entities/upsert.ts";
import * as wire from "./wire/entities.ts";

type Operations<T extends Entity> = {
  readonly create: CreateEntity<T>;
  readonly update: UpdateEntity<T>;
  readonly upsert: UpsertEntity<T>;
  readonly delete: DeleteEntity;
  readonly get: GetEntity<T>;
  readonly list: ListEntities<T>;
};

type Query = z.output<typeof maybeProjectQuery>;
const placeOf = ({ orgIdentifier, projectIdentifier }: Query): Place => ({
  orgIdentifier: orgIdentifier ?? null,
  projectIdentifier: projectIdentifier ?? null,
});

/** Clients send the scope in the query, and `forceDelete`, which has no effect. */
const deleteQuery = maybeProjectQuery.extend({ forceDelete: z.enum(["true", "false"]).optional() });
/** The lists take `page` and `size`, and answer in the page shape of `/ng` paths. */
const listQuery = maybeProjectQuery
  .extend(springPageQuery(100).shape)
  .extend({ searchTerm: z.string().max(256).optional(), sort: sortOrders() });

type Resource<T extends Entity> = {
  readonly noun: "environment" | "service";
  readonly path: string;
  readonly example: { readonly identifier: string; readonly [field: string]: string };
  readonly body: z.ZodType;
  readonly read: (call: Call<Query>) => Fields<T>;
  readonly response: (entity: T, accountId: Uuid) => unknown;
  readonly shape: z.ZodType;
};

function entityRoutes<T extends Entity>(
  resource: Resource<T>,
  operations: Operations<T>,
  usedBy: ListUsedBy,
): readonly Route[] {
  const { noun, path, response } = resource;
  const shape = enveloped(resource.shape);
  const body = { schema: resource.body, strict: true, example: resource.example } as const;
  const params = { identifier: resource.example.identifier };
  const edit = { permission: `core_${noun}_edit` };
  const view = { permission: `core_${noun}_view` };
  const shown = (call: Call<Query>, entity: T): Answer => ok(call, response(entity, call.accountId), entity.version);
  const keyOf = (call: Call<Query>) => ({ ...placeOf(call.query), identifier: call.params["identifier"] ?? "" });
  return [
    route({
      method: "POST",
      path,
      operation: `${noun}.create`,
      access: edit,
      query: maybeProjectQuery,
      doc: { summary: `Create a ${noun}`.replace("a e", "an e"), body, answer: shape, etag: true },
      handle: async (call) => shown(call, await operations.create(call.actor, resource.read(call))),
    }),
    route({
      method: "PUT",
      path,
      operation: `${noun}.update`,
      access: edit,
      query: maybeProjectQuery,
      doc: { summary: `Replace the ${noun} that the body names`, body, answer: shape, etag: true, ifMatch: true },
      handle: async (call) => shown(call, await operations.update(call.actor, resource.read(call), ifMatch(call))),
    }),
    route({
      method: "PUT",
      path: `${path}/upsert`,
      operation: `${noun}.upsert`,
      access: edit,
      query: maybeProjectQuery,
      doc: {
        summary: `Replace the ${noun} that the body names, or create it`,
        body,
        answer: shape,
        etag: true,
        ifMatch: true,
      },
      handle: async (call) => shown(call, await operations.upsert(call.actor, resource.read(call), ifMatch(call))),
    }),
    ...listRoutes(resource, operations),
    usedByRoute({ noun, path, identifier: resource.example.identifier }, usedBy),
    route({
      method: "GET",
      path: `${path}/:identifier`,
      operation: `${noun}.get`,
      access: view,
      query: maybeProjectQuery,
      doc: { summary: `Read the ${noun}`, params, answer: shape, etag: true },
      handle: async (call) => shown(call, await operations.get(call.actor, keyOf(call))),
    }),
    route({
      method: "DELETE",
      path: `${path}/:identifier`,
      operation: `${noun}.delete`,
      access: { permission: `core_${noun}_delete` },
      query: deleteQuery,
      doc: { summary: `Delete the ${noun}`, params, answer: enveloped(z.literal(true)), ifMatch: true },
      handle: async (call) => {
        await operations.delete(call.actor, keyOf(call), ifMatch(call));
        return ok(call, true);
      },
    }),
  ];
}

function listRoutes<T extends Entity>(
  { noun, path, response, shape }: Resource<T>,
  operations: Operations<T>,
): readonly Route[] {
  const view = { permission: `core_${noun}_view` };
  return [
    route({
      method: "GET",
      path,
      operation: `${noun}.list`,
      access: view,
      query: listQuery,
      doc: {
        summary: `List the ${noun}s of a scope, by identifier or as sort says`,
        answer: enveloped(ngPageShape(shape)),
      },
      handle: async (call) => {
        const { page, size, searchTerm, sort: order } = call.query;
        const filter = { ...placeOf(call.query), searchTerm };
        const found = await operations.list(call.actor, filter, { limit: size, offset: page * size, order });
        return ok(call, await ngPage(found, (entity) => response(entity, call.accountId)));
      },
    }),
    route({
      method: "GET",
      path: `${path}/list/access`,
      operation: `${noun}.list-accessible`,
      access: view,
      query: listQuery,
      doc: {
        summary: `List the ${noun}s of a scope as a plain array, by identifier or as sort says`,
        answer: enveloped(z.array(shape)),
      },
      handle: async (call) => {
        const { page, size, searchTerm, sort: order } = call.query;
        const filter = { ...placeOf(call.query), searchTerm };
        const { items } = await operations.list(call.actor, filter, { limit: size, offset: page * size, order });
        return ok(
          call,
          items.map((entity) => response(entity, call.accountId)),
        );
      },
    }),
  ];
}

const fieldsFrom = <D, T>({ input, yaml }: ReadEntity<D>, fields: (input: D, yaml: string) => T): T =>
  fields(input, yaml);

export const environmentRoutes = (operations: {
  readonly environments: Operations<Environment>;
  readonly services: Operations<Service>;
  readonly usedBy: { readonly environment: ListUsedBy; readonly service: ListUsedBy };
}): readonly Route[] => [
  ...entityRoutes(
    {
      noun: "environment",
      path: "/ng/api/environmentsV2",
      example: { name: "Production", identifier: "production", type: "Production" },
      body: wire.environmentBody,
      read: (call) =>
        fieldsFrom(readBody(wire.ENVIRONMENT_LANGUAGE, call, placeOf(call.query)), wire.environmentFields),
      response: wire.environmentResponse,
      shape: wire.environmentShape,
    },
    operations.environments,
    operations.usedBy.environment,
  ),
  ...entityRoutes(
    {
      noun: "service",
      path: "/ng/api/servicesV2",
      example: { name: "Web shop", identifier: "web_shop" },
      body: wire.serviceBody,
      read: (call) => fieldsFrom(readBody(wire.SERVICE_LANGUAGE, call, placeOf(call.query)), wire.serviceFields),
      response: wire.serviceResponse,
      shape: wire.serviceShape,
    },
    operations.services,
    operations.usedBy.service,
  ),
];
