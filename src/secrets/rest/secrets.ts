/** Routes of `/ng/api/v2/secrets`. */
import { z } from "zod";
import { contentOf } from "../../platform/crypto/chunks.ts";
import { ok } from "../../platform/http/response/answers.ts";
import { envelopeOf } from "../../platform/http/request/bodies.ts";
import { ifMatch } from "../../platform/http/request/if-match.ts";
import { ngPage, ngPageShape, ngWindow, sortedPageQuery } from "../../platform/http/response/pages.ts";
import { flag, maybeProjectQuery, maybeText } from "../../platform/http/request/queries.ts";
import { route, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import type { CreateSecret, NewSecret } from "../create.ts";
import type { DeleteSecret } from "../delete.ts";
import type { GetSecret, IsSecretIdentifierFree, ListSecrets, RequirePermission, SecretRef } from "../find.ts";
import { problem } from "../problems.ts";
import { fileRoutes } from "./files.ts";
import { usageScopeRoutes } from "./usage-scopes.ts";
import { inScope, keyOf, managerIn, placeOf, writeQuery, type ScopedCall } from "./query.ts";
import type { SecretChanges, UpdateSecret } from "../update.ts";
import { ASKED_TYPES, filterBody, filterOf, secretBody, secretResponse, secretShape } from "../wire/secret.ts";
import { loginIn } from "../wire/ssh.ts";

type Operations = {
  readonly create: CreateSecret;
  readonly update: UpdateSecret;
  readonly delete: DeleteSecret;
  readonly get: GetSecret;
  readonly requirePermission: RequirePermission;
  readonly list: ListSecrets;
  readonly isIdentifierFree: IsSecretIdentifierFree;
};

const refOf = (call: ScopedCall): SecretRef => ({ by: "identifier", key: keyOf(call) });

export const SECRETS = "/ng/api/v2/secrets";
const EXAMPLE = {
  type: "SecretText",
  name: "Registry password",
  identifier: "registry_password",
  spec: { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "correct horse" },
};
const params = { identifier: EXAMPLE.identifier };
const one = enveloped(secretShape);
const page = enveloped(ngPageShape(secretShape));
const pages = maybeProjectQuery.extend(sortedPageQuery(100).shape);

export const secretRoutes = (operations: Operations): readonly Route[] => [
  ...writingRoutes(operations),
  ...fileRoutes(operations),
  ...usageScopeRoutes(operations),
  ...listRoutes(operations),
  route({
    method: "GET",
    path: `${SECRETS}/:identifier`,
    operation: "secret.get",
    access: { permission: "core_secret_view" },
    query: maybeProjectQuery,
    doc: { summary: "Read a secret, without its value", params, answer: one, etag: true },
    handle: async (call) => {
      const secret = await operations.get(call.actor, refOf(call));
      return ok(call, secretResponse(secret), secret.version);
    },
  }),
  route({
    method: "DELETE",
    path: `${SECRETS}/:identifier`,
    operation: "secret.delete",
    access: { permission: "core_secret_delete" },
    query: maybeProjectQuery.extend({ forceDelete: flag }),
    doc: {
      summary: "Delete a secret; with forceDelete also one that is used",
      params,
      answer: enveloped(z.literal(true)),
      ifMatch: true,
    },
    handle: async (call) => {
      await operations.delete(call.actor, refOf(call), { version: ifMatch(call), force: call.query.forceDelete });
      return ok(call, true);
    },
  }),
];

const readSecret = (call: ScopedCall) => inScope(call, envelopeOf(call, secretBody, { root: "secret" }));
type Body = ReturnType<typeof readSecret>;

function newSecretOf(body: Body): NewSecret {
  const { name, identifier, orgIdentifier, projectIdentifier, description, tags } = body;
  const common = { name, identifier, orgIdentifier, projectIdentifier, description, tags, scoping: {} };
  if (body.type === "SSHKey") return { ...common, type: "SSH_CREDENTIAL", login: loginIn(body.spec) };
  const { secretManagerIdentifier, value } = body.spec;
  if (!value) throw problem("secret.no_content", [name, "secret.spec.value is missing"]);
  const manager = managerIn(secretManagerIdentifier);
  return { ...common, type: "ENCRYPTED_TEXT", manager, content: contentOf(value) };
}

function changesOf(body: Body): SecretChanges {
  const common = { name: body.name, description: body.description, tags: body.tags };
  if (body.type === "SSHKey") return { ...common, login: loginIn(body.spec) };
  const { secretManagerIdentifier, value } = body.spec;
  return { ...common, manager: managerIn(secretManagerIdentifier), content: value ? contentOf(value) : undefined };
}

const writingRoutes = (operations: Operations): readonly Route[] => [
  ...["", "/yaml"].map((suffix) =>
    route({
      method: "POST",
      path: `${SECRETS}${suffix}`,
      operation: suffix === "" ? "secret.create" : "secret.create-yaml",
      access: { permission: "core_secret_edit" },
      query: writeQuery,
      doc: {
        summary:
          suffix === ""
            ? "Create a secret text or an SSH credential"
            : "Create a secret text or an SSH credential; the same as without /yaml",
        body: {
          schema: secretBody,
          root: "secret",
          example: suffix === "" ? EXAMPLE : { ...EXAMPLE, name: "Other", identifier: "other" },
        },
        answer: one,
        etag: true,
      },
      handle: async (call) => {
        operations.requirePermission(call.actor, "core_secret_edit", placeOf(call));
        const secret = await operations.create(call.actor, newSecretOf(readSecret(call)));
        return ok(call, secretResponse(secret), secret.version);
      },
    }),
  ),
  ...["", "/yaml"].map((suffix) =>
    route({
      method: "PUT",
      path: `${SECRETS}/:identifier${suffix}`,
      operation: suffix === "" ? "secret.update" : "secret.update-yaml",
      access: { permission: "core_secret_edit" },
      query: writeQuery,
      doc: {
        summary: "Replace a secret text, which without a value keeps the one it has, or an SSH credential",
        params,
        body: { schema: secretBody, root: "secret", example: { ...EXAMPLE, name: "Password of the registry" } },
        answer: one,
        etag: true,
        ifMatch: true,
      },
      handle: async (call) => {
        operations.requirePermission(call.actor, "core_secret_edit", placeOf(call));
        const body = readSecret(call);
        const key = keyOf(call);
        if (body.identifier !== key.identifier)
          throw problem("secret.other_identifier", [key.identifier, body.identifier]);
        const type = body.type === "SSHKey" ? "SSH_CREDENTIAL" : "ENCRYPTED_TEXT";
        const ref = { by: "identifier", key, type } as const;
        const secret = await operations.update(call.actor, ref, { changes: changesOf(body), version: ifMatch(call) });
        return ok(call, secretResponse(secret), secret.version);
      },
    }),
  ),
];

/** Clients use two paths for the same list. The search term is in the query or in the body. */
const filterRoute = (operations: Operations, suffix: string, operation: string): Route =>
  route({
    method: "POST",
    path: `${SECRETS}${suffix}`,
    operation,
    access: { permission: "core_secret_view" },
    query: pages.extend({ searchTerm: maybeText("searchTerm") }),
    doc: {
      summary: "List the secrets of a scope that match a filter, by identifier or as sortOrders says",
      body: { schema: filterBody, required: false, example: { filterType: "Secret", secretTypes: ["SecretText"] } },
      answer: page,
    },
    handle: async (call) => {
      operations.requirePermission(call.actor, "core_secret_view", placeOf(call));
      const body = call.body.bytes.length === 0 ? {} : envelopeOf(call, filterBody);
      const filter = filterOf(placeOf(call), { ...body, searchTerm: call.query.searchTerm ?? body.searchTerm });
      return ok(call, await ngPage(await operations.list(call.actor, filter, ngWindow(call.query)), secretResponse));
    },
  });

const listRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "GET",
    path: SECRETS,
    operation: "secret.list",
    access: { permission: "core_secret_view" },
    query: pages.extend({
      searchTerm: maybeText("searchTerm"),
      type: z.enum(ASKED_TYPES, { error: `takes one of ${ASKED_TYPES.join(", ")}` }).optional(),
      source_category: z.undefined({ error: "is not supported" }).optional(),
    }),
    doc: { summary: "List the secrets of a scope by identifier, or as sortOrders says", answer: page },
    handle: async (call) => {
      const { type, searchTerm } = call.query;
      const filter = filterOf(placeOf(call), { searchTerm, secretTypes: type && [type] });
      return ok(call, await ngPage(await operations.list(call.actor, filter, ngWindow(call.query)), secretResponse));
    },
  }),
  filterRoute(operations, "/list", "secret.filter"),
  filterRoute(operations, "/list/secrets", "secret.filter-secrets"),
  route({
    method: "GET",
    path: `${SECRETS}/validateUniqueIdentifier/:identifier`,
    operation: "secret.validate-identifier",
    access: { permission: "core_secret_view" },
    query: maybeProjectQuery,
    doc: {
      summary: "Whether a new secret may have an identifier",
      params: { identifier: "other" },
      mayBeAbsent: ["identifier"],
      answer: enveloped(z.boolean()),
    },
    handle: async (call) => ok(call, await operations.isIdentifierFree(call.actor, keyOf(call))),
  }),
];
