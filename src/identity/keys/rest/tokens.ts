import { z } from "zod";
import { ok } from "../../../platform/http/response/answers.ts";
import { envelopeOf, type EnvelopeCall } from "../../../platform/http/request/bodies.ts";
import { ngPage, ngPageShape, ngWindow, sortedPageQuery } from "../../../platform/http/response/pages.ts";
import { route, type Call, type Route } from "../../../platform/http/routes.ts";
import { enveloped } from "../../../platform/http/response/shapes.ts";
import { agree } from "../../problems.ts";
import { naming, parentOf, pathIdentifier, repeating, searching } from "./owner.ts";
import type { KeyRef } from "../api-key.ts";
import type { CreateToken } from "../tokens/create.ts";
import type { DeleteToken } from "../tokens/delete.ts";
import type { ListTokens } from "../tokens/list.ts";
import type { RotateToken } from "../tokens/rotate.ts";
import type { UpdateToken } from "../tokens/update.ts";
import {
  moment,
  periodAsked,
  tokenAggregate,
  tokenAggregateShape,
  tokenBody,
  tokenFields,
  tokenResponse,
  tokenShape,
} from "../wire.ts";

type Operations = {
  readonly create: CreateToken;
  readonly update: UpdateToken;
  readonly delete: DeleteToken;
  readonly rotate: RotateToken;
  readonly list: ListTokens;
};

const PATH = "/ng/api/token";
const access = { permission: "core_serviceaccount_manageapikey" };
const KEY = { apiKeyType: "SERVICE_ACCOUNT", parentIdentifier: "deployer", apiKeyIdentifier: "pipelines" } as const;
const EXAMPLE = { ...KEY, identifier: "nightly", name: "Nightly", validTo: "12/31/2099" };

const apiKeyIdentifier = z.string({ error: "is required" }).min(1, "is required").max(128);
const inKey = naming.extend({ apiKeyIdentifier });

const keyOf = (call: Pick<Call<z.output<typeof inKey>>, "accountId" | "query">): KeyRef => ({
  ...parentOf(call),
  apiKeyIdentifier: call.query.apiKeyIdentifier,
});

const writing = repeating.extend({ apiKeyIdentifier: apiKeyIdentifier.optional() });

/** The token of the body, and its key. */
function tokenIn(call: EnvelopeCall & Pick<Call<z.output<typeof writing>>, "accountId" | "query">) {
  const body = envelopeOf(call, tokenBody);
  const there = call.query.apiKeyIdentifier;
  if (there !== undefined) agree("apiKeyIdentifier", body.apiKeyIdentifier, there);
  const key = { ...parentOf(call, body), apiKeyIdentifier: body.apiKeyIdentifier };
  return { key, fields: tokenFields(body), requested: periodAsked(body) };
}

const text = enveloped(z.string().describe("The token's text, shown this once."));

export const tokenRoutes = (operations: Operations): readonly Route[] => [
  createRoute(operations),
  listRoute(operations),
  ...changeRoutes(operations),
];

const createRoute = (operations: Operations): Route =>
  route({
    method: "POST",
    path: PATH,
    operation: "token.create",
    access,
    query: writing,
    doc: {
      summary: "Create a token in an API key; its text is in the answer and nowhere else",
      body: { schema: tokenBody, example: EXAMPLE },
      answer: text,
    },
    handle: async (call) => {
      const { key, fields, requested } = tokenIn(call);
      return ok(call, await operations.create(call.actor, key, { fields, requested }));
    },
  });

const listRoute = (operations: Operations): Route =>
  route({
    method: "GET",
    path: `${PATH}/aggregate`,
    operation: "token.aggregates",
    access,
    query: inKey.extend(searching).extend(sortedPageQuery(50).shape),
    doc: {
      summary: "The tokens of an API key by page, never their texts",
      queryExample: KEY,
      answer: enveloped(ngPageShape(tokenAggregateShape)),
    },
    handle: async (call) => {
      const page = await operations.list(call.actor, keyOf(call), {
        filter: call.query,
        window: ngWindow(call.query),
      });
      return ok(call, await ngPage(page, (of) => tokenAggregate(of, call.accountId)));
    },
  });

const changeRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "PUT",
    path: `${PATH}/:identifier`,
    operation: "token.update",
    access,
    query: writing,
    doc: {
      summary: "Replace a token's name, description and tags, and move its ends",
      description: "What the body leaves out of validFrom, validTo and scheduledExpireTime stays as it is.",
      params: { identifier: "daily" },
      body: { schema: tokenBody, example: { ...EXAMPLE, identifier: "daily", name: "Daily" } },
      answer: enveloped(tokenShape),
    },
    handle: async (call) => {
      const { key, fields, requested } = tokenIn(call);
      const changed = await operations.update(call.actor, key, { identifier: pathIdentifier(call), fields, requested });
      return ok(call, tokenResponse(changed, call.accountId));
    },
  }),
  route({
    method: "POST",
    path: `${PATH}/rotate/:identifier`,
    operation: "token.rotate",
    access,
    query: inKey.extend({ rotateTimestamp: moment("last") }),
    doc: {
      summary: "Another text for a token; the old one serves until rotateTimestamp, at most 90 days from now",
      params: { identifier: "weekly" },
      queryExample: { ...KEY, rotateTimestamp: "1800000600000" },
      answer: text,
    },
    handle: async (call) => {
      const rotation = { identifier: pathIdentifier(call), until: call.query.rotateTimestamp };
      return ok(call, await operations.rotate(call.actor, keyOf(call), rotation));
    },
  }),
  route({
    method: "DELETE",
    path: `${PATH}/:identifier`,
    operation: "token.delete",
    access,
    query: inKey,
    doc: {
      summary: "Revoke a token, and what rotations of it have left; they end within a second",
      params: { identifier: "daily" },
      queryExample: KEY,
      answer: enveloped(z.literal(true)),
    },
    handle: async (call) => {
      await operations.delete(call.actor, keyOf(call), pathIdentifier(call));
      return ok(call, true);
    },
  }),
];
