import { z } from "zod";
import { toWire } from "../../core/ids.ts";
import type { Place, Referred } from "../../core/reference.ts";
import { ok } from "../../platform/http/response/answers.ts";
import { envelopeOf } from "../../platform/http/request/bodies.ts";
import { ngPage, ngPageShape, ngWindow, sortedPageQuery } from "../../platform/http/response/pages.ts";
import { problem as httpProblem } from "../../platform/http/problems.ts";
import { maybeProjectQuery, maybeText, maybeTexts } from "../../platform/http/request/queries.ts";
import { route, type Call, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import { pathIdentifier } from "../keys/rest/owner.ts";
import { agree } from "../problems.ts";
import type { CreateServiceAccount } from "./create.ts";
import type { DeleteServiceAccount } from "./delete.ts";
import type { GetServiceAccount } from "./get.ts";
import type { ListServiceAccounts } from "./list.ts";
import type { ServiceAccountFields } from "./service-account.ts";
import type { UpdateServiceAccount } from "./update.ts";
import {
  serviceAccountAggregate,
  serviceAccountAggregateShape,
  serviceAccountBody,
  serviceAccountFields,
  serviceAccountResponse,
  serviceAccountShape,
} from "./wire.ts";

type Operations = {
  readonly create: CreateServiceAccount;
  readonly update: UpdateServiceAccount;
  readonly delete: DeleteServiceAccount;
  readonly get: GetServiceAccount;
  readonly list: ListServiceAccounts;
};

const PATH = "/ng/api/serviceaccount";
const VIEW = { permission: "core_serviceaccount_view" };
const EDIT = { permission: "core_serviceaccount_edit" };
const EXAMPLE = { identifier: "provisioning", name: "Provisioning", description: "Brings people in" };
const params = { identifier: "provisioning" };
const searching = maybeProjectQuery.extend({
  searchTerm: maybeText("searchTerm"),
  identifiers: maybeTexts("identifiers"),
});

type Scoped = Call<z.output<typeof maybeProjectQuery>>;

const placeOf = ({ orgIdentifier, projectIdentifier }: Scoped["query"]): Place => ({
  orgIdentifier: orgIdentifier ?? null,
  projectIdentifier: projectIdentifier ?? null,
});
const keyOf = (call: Scoped): Referred => ({ ...placeOf(call.query), identifier: pathIdentifier(call) });

/**
 * The service account of the body, in the scope of the query. If the body names a scope, too, it has to be the same.
 */
function fieldsIn(call: Scoped): ServiceAccountFields {
  const body = envelopeOf(call, serviceAccountBody);
  if ((body.accountIdentifier ?? toWire(call.accountId)) !== toWire(call.accountId))
    throw httpProblem("http.not_yours");
  const merged = { ...call.query };
  for (const field of ["orgIdentifier", "projectIdentifier"] as const) {
    const [here, there] = [body[field] ?? undefined, call.query[field]];
    if (here !== undefined && there !== undefined) agree(field, here, there);
    merged[field] = here ?? there;
  }
  return serviceAccountFields(body, placeOf(merged));
}

export const serviceAccountRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "POST",
    path: PATH,
    operation: "service-account.create",
    access: EDIT,
    query: maybeProjectQuery,
    doc: {
      summary: "Create a service account in the account, in an organization or in a project",
      body: { schema: serviceAccountBody, example: EXAMPLE },
      answer: enveloped(serviceAccountShape),
    },
    handle: async (call) => {
      const made = await operations.create(call.actor, fieldsIn(call));
      return ok(call, serviceAccountResponse(made, call.accountId));
    },
  }),
  ...listRoutes(operations),
  route({
    method: "PUT",
    path: `${PATH}/:identifier`,
    operation: "service-account.update",
    access: EDIT,
    query: maybeProjectQuery,
    doc: {
      summary: "Replace a service account's name, description and tags",
      params,
      body: { schema: serviceAccountBody, example: { ...EXAMPLE, name: "Provisioning by SCIM" } },
      answer: enveloped(serviceAccountShape),
    },
    handle: async (call) => {
      const changed = await operations.update(call.actor, pathIdentifier(call), fieldsIn(call));
      return ok(call, serviceAccountResponse(changed, call.accountId));
    },
  }),
  route({
    method: "DELETE",
    path: `${PATH}/:identifier`,
    operation: "service-account.delete",
    access: { permission: "core_serviceaccount_delete" },
    query: maybeProjectQuery,
    doc: {
      summary: "Delete a service account with its keys and tokens, which end within a second",
      params,
      answer: enveloped(z.literal(true)),
    },
    handle: async (call) => {
      await operations.delete(call.actor, keyOf(call));
      return ok(call, true);
    },
  }),
];

const listRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "GET",
    path: PATH,
    operation: "service-account.list",
    access: VIEW,
    query: searching,
    doc: { summary: "All service accounts of a scope, by identifier", answer: enveloped(z.array(serviceAccountShape)) },
    handle: async (call) => {
      const { items } = await operations.list(call.actor, { ...call.query, ...placeOf(call.query) });
      return ok(
        call,
        items.map((one) => serviceAccountResponse(one, call.accountId)),
      );
    },
  }),
  route({
    method: "GET",
    path: `${PATH}/aggregate`,
    operation: "service-account.aggregates",
    access: VIEW,
    query: searching.extend(sortedPageQuery(50).shape),
    doc: {
      summary: "Service accounts of a scope by page, with their times and how many tokens they have",
      answer: enveloped(ngPageShape(serviceAccountAggregateShape)),
    },
    handle: async (call) => {
      const page = await operations.list(call.actor, { ...call.query, ...placeOf(call.query) }, ngWindow(call.query));
      return ok(call, await ngPage(page, (one) => serviceAccountAggregate(one, call.accountId)));
    },
  }),
  route({
    method: "GET",
    path: `${PATH}/aggregate/:identifier`,
    operation: "service-account.aggregate",
    access: VIEW,
    query: maybeProjectQuery,
    doc: {
      summary: "A service account with its times and how many tokens it has",
      params: { identifier: "deployer" },
      answer: enveloped(serviceAccountAggregateShape),
    },
    handle: async (call) =>
      ok(call, serviceAccountAggregate(await operations.get(call.actor, keyOf(call)), call.accountId)),
  }),
];
