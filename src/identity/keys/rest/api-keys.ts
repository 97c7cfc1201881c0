import { z } from "zod";
import { ok } from "../../../platform/http/response/answers.ts";
import { envelopeOf } from "../../../platform/http/request/bodies.ts";
import { ngPage, ngPageShape, ngWindow, sortedPageQuery } from "../../../platform/http/response/pages.ts";
import { route, type Route } from "../../../platform/http/routes.ts";
import { enveloped } from "../../../platform/http/response/shapes.ts";
import type { CreateApiKey } from "../api-keys/create.ts";
import type { DeleteApiKey } from "../api-keys/delete.ts";
import type { GetApiKey } from "../api-keys/get.ts";
import type { ListApiKeys } from "../api-keys/list.ts";
import type { UpdateApiKey } from "../api-keys/update.ts";
import { naming, parentOf, pathIdentifier, repeating, searching } from "./owner.ts";
import {
  apiKeyAggregate,
  apiKeyAggregateShape,
  apiKeyBody,
  apiKeyFields,
  apiKeyResponse,
  apiKeyShape,
} from "../wire.ts";

type Operations = {
  readonly create: CreateApiKey;
  readonly update: UpdateApiKey;
  readonly delete: DeleteApiKey;
  readonly get: GetApiKey;
  readonly list: ListApiKeys;
};

const PATH = "/ng/api/apikey";
/**
 * The permission for keys of a service account. Users need none for their own keys, and `core_user_manage` for those of
 * others.
 */
const access = { permission: "core_serviceaccount_manageapikey" };
const OWNER = { apiKeyType: "SERVICE_ACCOUNT", parentIdentifier: "deployer" } as const;
const EXAMPLE = { ...OWNER, identifier: "ci", name: "CI", defaultTimeToExpireToken: 7_776_000_000 };
const params = { identifier: "ci" };

export const apiKeyRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "POST",
    path: PATH,
    operation: "api-key.create",
    access,
    query: repeating,
    doc: {
      summary: "Create an API key, of the person who asks or of a service account",
      body: { schema: apiKeyBody, example: EXAMPLE },
      answer: enveloped(apiKeyShape),
    },
    handle: async (call) => {
      const body = envelopeOf(call, apiKeyBody);
      const made = await operations.create(call.actor, parentOf(call, body), apiKeyFields(body));
      return ok(call, apiKeyResponse(made, call.accountId));
    },
  }),
  ...readingRoutes(operations),
  route({
    method: "PUT",
    path: `${PATH}/:identifier`,
    operation: "api-key.update",
    access,
    query: repeating,
    doc: {
      summary: "Replace an API key's name, description, tags and default lifetime of tokens",
      params,
      body: { schema: apiKeyBody, example: { ...EXAMPLE, description: "For the nightly build" } },
      answer: enveloped(apiKeyShape),
    },
    handle: async (call) => {
      const body = envelopeOf(call, apiKeyBody);
      const changed = await operations.update(call.actor, parentOf(call, body), {
        identifier: pathIdentifier(call),
        fields: apiKeyFields(body),
      });
      return ok(call, apiKeyResponse(changed, call.accountId));
    },
  }),
  route({
    method: "DELETE",
    path: `${PATH}/:identifier`,
    operation: "api-key.delete",
    access,
    query: naming,
    doc: {
      summary: "Delete an API key with its tokens, which end within a second",
      params,
      queryExample: OWNER,
      answer: enveloped(z.literal(true)),
    },
    handle: async (call) => {
      await operations.delete(call.actor, parentOf(call), pathIdentifier(call));
      return ok(call, true);
    },
  }),
];

const readingRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "GET",
    path: PATH,
    operation: "api-key.list",
    access,
    query: naming.extend(searching),
    doc: {
      summary: "All API keys of a person or of a service account, by identifier",
      queryExample: OWNER,
      answer: enveloped(z.array(apiKeyShape)),
    },
    handle: async (call) => {
      const { items } = await operations.list(call.actor, parentOf(call), { filter: call.query });
      return ok(
        call,
        items.map((of) => apiKeyResponse(of, call.accountId)),
      );
    },
  }),
  route({
    method: "GET",
    path: `${PATH}/aggregate`,
    operation: "api-key.aggregates",
    access,
    query: naming.extend(searching).extend(sortedPageQuery(50).shape),
    doc: {
      summary: "API keys by page, with their times and how many tokens they have",
      queryExample: OWNER,
      answer: enveloped(ngPageShape(apiKeyAggregateShape)),
    },
    handle: async (call) => {
      const page = await operations.list(call.actor, parentOf(call), {
        filter: call.query,
        window: ngWindow(call.query),
      });
      return ok(call, await ngPage(page, (of) => apiKeyAggregate(of, call.accountId)));
    },
  }),
  route({
    method: "GET",
    path: `${PATH}/aggregate/:identifier`,
    operation: "api-key.aggregate",
    access,
    query: naming,
    doc: {
      summary: "An API key with its times and how many tokens it has",
      params,
      queryExample: OWNER,
      answer: enveloped(apiKeyAggregateShape),
    },
    handle: async (call) => {
      const found = await operations.get(call.actor, parentOf(call), pathIdentifier(call));
      return ok(call, apiKeyAggregate(found, call.accountId));
    },
  }),
];
