/** Delegates and the tokens that they register with (reference section 2.3). */
import { z } from "zod";
import { toWire, type Uuid } from "../../core/ids.ts";
import { validate } from "../../platform/document/validate.ts";
import { json } from "../../platform/http/answers.ts";
import { documentOf, textOf } from "../../platform/http/bodies.ts";
import { route, type Answer, type Route } from "../../platform/http/routes.ts";
import { epochMs, resourced, wireId } from "../../platform/http/shapes.ts";
import type { ListDelegates, ListedDelegate, ListFilter } from "../list.ts";
import type { TokenView } from "../store/registry.ts";
import type { CreateDelegateToken, DeleteDelegateToken, ListDelegateTokens, RevokeDelegateToken } from "../tokens.ts";

type Verbs = {
  readonly createToken: CreateDelegateToken;
  readonly listTokens: ListDelegateTokens;
  readonly revokeToken: RevokeDelegateToken;
  readonly deleteToken: DeleteDelegateToken;
  readonly list: ListDelegates;
};

const PATH = "/ng/api/delegate-token-ng";
const EDIT = { permission: "core_delegate_edit" };
const VIEW = { permission: "core_delegate_view" };
/** Beyond it nobody reads; `all=true` changes nothing about it. */
const MAX_LISTED = 1_000;

const named = z.object({ tokenName: z.string({ error: "is required" }) });
const resource = (body: unknown): Answer => json(200, { metaData: {}, resource: body, responseMessages: [] });

const tokenShape = z.strictObject({
  uuid: wireId,
  accountId: wireId,
  name: z.string(),
  createdBy: wireId.nullable(),
  createdByNgUser: wireId.nullable(),
  createdAt: epochMs,
  status: z.enum(["ACTIVE", "REVOKED"]),
  revokedAt: epochMs.nullable(),
  revokeAfter: z.null(),
  ownerIdentifier: z.null(),
  parentUniqueId: z.null(),
  value: z.string().nullable().describe("Shown once, when the token is created."),
});

const tokenWire = (accountId: Uuid, token: TokenView, value: string | null = null) => ({
  uuid: toWire(token.id),
  accountId: toWire(accountId),
  name: token.name,
  createdBy: token.createdBy && toWire(token.createdBy),
  createdByNgUser: token.createdBy && toWire(token.createdBy),
  createdAt: token.createdAt,
  status: token.revokedAt === null ? "ACTIVE" : "REVOKED",
  revokedAt: token.revokedAt,
  revokeAfter: null,
  ownerIdentifier: null,
  parentUniqueId: null,
  value,
});

const tokenRoutes = (verbs: Verbs): readonly Route[] => [
  route({
    method: "POST",
    path: PATH,
    operation: "delegate-token.create",
    access: EDIT,
    errors: "resource",
    query: named.extend({ revokeAfter: z.never({ error: "is not supported yet" }).optional() }),
    doc: {
      summary: "Create a delegate token; its value is shown once",
      queryExample: { tokenName: "build-hosts" },
      answer: resourced(tokenShape),
    },
    handle: async (call) => {
      const token = await verbs.createToken(call.actor, call.query.tokenName);
      return resource(tokenWire(call.accountId, token, token.value));
    },
  }),
  route({
    method: "GET",
    path: PATH,
    operation: "delegate-token.list",
    access: VIEW,
    errors: "resource",
    query: z.object({
      name: z.string().optional(),
      status: z.enum(["ACTIVE", "REVOKED"], { error: "is ACTIVE or REVOKED" }).optional(),
    }),
    doc: { summary: "List delegate tokens, never their values", answer: resourced(z.array(tokenShape)) },
    handle: async (call) => {
      const { name, status } = call.query;
      const found = await verbs.listTokens(call.actor, { name, status });
      return resource(found.map((token) => tokenWire(call.accountId, token)));
    },
  }),
  route({
    method: "PUT",
    path: PATH,
    operation: "delegate-token.revoke",
    access: EDIT,
    errors: "resource",
    query: named,
    doc: {
      summary: "Revoke a delegate token; its delegates are cut off at once",
      queryExample: { tokenName: "old-hosts" },
      answer: resourced(tokenShape),
    },
    handle: async (call) =>
      resource(tokenWire(call.accountId, await verbs.revokeToken(call.actor, call.query.tokenName))),
  }),
  route({
    method: "DELETE",
    path: PATH,
    operation: "delegate-token.delete",
    access: EDIT,
    errors: "resource",
    query: named,
    doc: {
      summary: "Delete a revoked delegate token",
      queryExample: { tokenName: "old-hosts" },
      answer: resourced(z.literal(true)),
    },
    handle: async (call) => {
      await verbs.deleteToken(call.actor, call.query.tokenName);
      return resource(true);
    },
  }),
];

const notYet = z.never().optional();
const tag = z.string().min(1).max(128);

/** The filter of reference section 2.3. What says nothing about these delegates is refused by name. */
const listBody = z.strictObject({
  filterType: z.literal("Delegate").nullish(),
  status: z.enum(["CONNECTED", "DISCONNECTED", "ENABLED", "DELETED"]).nullish(),
  hostName: z.string().nullish(),
  delegateName: z.string().nullish(),
  delegateGroupIdentifier: z.string().nullish(),
  delegateTags: z.array(tag).max(64).nullish(),
  description: notYet,
  delegateType: notYet,
  delegateInstanceFilter: notYet,
  autoUpgrade: notYet,
  versionStatus: notYet,
});

const STATUS: Readonly<Record<string, Pick<ListFilter, "connected" | "revoked">>> = {
  CONNECTED: { connected: true, revoked: false },
  DISCONNECTED: { connected: false },
  ENABLED: { revoked: false },
  DELETED: { revoked: true },
};

const filterOf = (asked: z.output<typeof listBody>): ListFilter => ({
  name: asked.delegateName ?? asked.delegateGroupIdentifier ?? undefined,
  host: asked.hostName ?? undefined,
  tags: asked.delegateTags ?? undefined,
  ...STATUS[asked.status ?? ""],
});

const delegateShape = z.strictObject({
  uuid: wireId,
  accountId: wireId,
  delegateName: z.string(),
  delegateGroupIdentifier: z.string(),
  delegateType: z.literal("SHELL_SCRIPT"),
  hostName: z.string(),
  tags: z.array(z.string()),
  version: z.string(),
  tokenName: z.string(),
  status: z.enum(["ENABLED", "DELETED"]),
  connected: z.boolean(),
  lastHeartBeat: epochMs,
  createdAt: epochMs,
});

const delegateWire = (delegate: ListedDelegate): z.output<typeof delegateShape> => ({
  uuid: toWire(delegate.id),
  accountId: toWire(delegate.accountId),
  delegateName: delegate.name,
  delegateGroupIdentifier: delegate.name,
  delegateType: "SHELL_SCRIPT",
  hostName: delegate.host,
  tags: [...delegate.tags],
  version: delegate.version,
  tokenName: delegate.tokenName,
  status: delegate.revoked ? "DELETED" : "ENABLED",
  connected: delegate.connected,
  lastHeartBeat: delegate.seenAt,
  createdAt: delegate.createdAt,
});

const listRoute = (verbs: Verbs): Route =>
  route({
    method: "POST",
    path: "/ng/api/delegate-setup/listDelegates",
    operation: "delegate.list",
    access: VIEW,
    errors: "resource",
    query: z.object({}),
    doc: {
      summary: "List delegates, connected or not",
      body: { schema: listBody, required: false, example: { filterType: "Delegate", status: "CONNECTED" } },
      answer: resourced(z.array(delegateShape)),
    },
    handle: async (call) => {
      const asked = textOf(call.body) === undefined ? {} : validate(listBody, documentOf(call.body));
      const { items } = await verbs.list(call.actor, filterOf(asked), MAX_LISTED, 0);
      return resource(items.map((delegate) => delegateWire(delegate)));
    },
  });

export const registryRoutes = (verbs: Verbs): readonly Route[] => [...tokenRoutes(verbs), listRoute(verbs)];
