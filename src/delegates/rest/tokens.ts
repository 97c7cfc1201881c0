/**
 * Tokens that delegates register with: each operation by `tokenName` in the query, as most clients
 * send it, and by the name in the path.
 */
import { z } from "zod";
import { toWire, type Uuid } from "../../core/ids.ts";
import { json } from "../../platform/http/response/answers.ts";
import { moment } from "../../platform/http/request/queries.ts";
import { route, type Answer, type Call, type Route, type RouteDoc } from "../../platform/http/routes.ts";
import { epochMs, resourced, wireId } from "../../platform/http/response/shapes.ts";
import type { ListDelegates } from "../registry/list.ts";
import type { TokenView } from "../store/registry.ts";
import type {
  CreateDelegateToken,
  DeleteDelegateToken,
  GetDelegateToken,
  ListDelegateTokens,
  RevokeDelegateToken,
} from "../registry/tokens.ts";
import { groupShape, groupWire } from "./tags.ts";

type Operations = {
  readonly createToken: CreateDelegateToken;
  readonly getToken: GetDelegateToken;
  readonly listTokens: ListDelegateTokens;
  readonly revokeToken: RevokeDelegateToken;
  readonly deleteToken: DeleteDelegateToken;
  readonly list: ListDelegates;
};

const PATH = "/ng/api/delegate-token-ng";
const ONE = `${PATH}/:tokenName`;
const EDIT = { permission: "core_delegate_edit" };
const VIEW = { permission: "core_delegate_view" };
/** Limit of the list. */
const MAX_LISTED = 1_000;

const nothing = z.object({});
const named = z.object({ tokenName: z.string({ error: "is required" }) });
const ending = z.object({ revokeAfter: moment().optional() });
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
  revokeAfter: epochMs.nullable().describe("When it ends by itself."),
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
  revokeAfter: token.revokeAfter,
  ownerIdentifier: null,
  parentUniqueId: null,
  value,
});

type Named = Call<{ readonly tokenName?: string | undefined }>;
const nameIn = ({ params, query }: Named): string => params["tokenName"] ?? query.tokenName ?? "";

/** Declares one operation at both of its addresses. */
type Both<Q extends z.ZodRawShape> = {
  readonly method: "POST" | "PUT" | "DELETE";
  readonly verb: string;
  readonly query: z.ZodObject<Q>;
  readonly summary: string;
  readonly answer: RouteDoc["answer"];
  /** Names of the two examples. */
  readonly examples: readonly [inQuery: string, inPath: string];
  readonly handle: (call: Call<z.output<z.ZodObject<Q>>>, name: string) => Promise<Answer>;
};

function both<Q extends z.ZodRawShape>({ verb, query, summary, answer, examples, ...spec }: Both<Q>): readonly Route[] {
  const { method } = spec;
  const handle = (call: Call): Promise<Answer> =>
    spec.handle(call as Call<z.output<z.ZodObject<Q>>>, nameIn(call as Named));
  const shared = { method, access: EDIT, errors: "resource", handle } as const;
  const [inQuery, inPath] = examples;
  return [
    route({
      ...{ ...shared, path: PATH, operation: `delegate-token.${verb}`, query: named.extend(query.shape) },
      doc: { summary, queryExample: { tokenName: inQuery }, answer },
    }),
    route({
      ...{ ...shared, path: ONE, operation: `delegate-token.${verb}-by-name`, query },
      doc: {
        summary: `${summary}; by its name in the path`,
        params: { tokenName: inPath },
        ...(verb === "create" ? { mayBeAbsent: ["tokenName"] } : {}),
        answer,
      },
    }),
  ];
}

const changeRoutes = (operations: Operations): readonly Route[] => [
  ...both({
    method: "POST",
    verb: "create",
    query: ending,
    summary: "Create a delegate token; its value is shown once. From revokeAfter on it is revoked by itself",
    answer: resourced(tokenShape),
    examples: ["build-hosts", "edge-hosts"],
    handle: async (call, name) => {
      const token = await operations.createToken(call.actor, name, call.query);
      return resource(tokenWire(call.accountId, token, token.value));
    },
  }),
  ...both({
    method: "PUT",
    verb: "revoke",
    query: nothing,
    summary: "Revoke a delegate token; its delegates are cut off at once",
    answer: resourced(tokenShape),
    examples: ["old-hosts", "edge-hosts"],
    handle: async (call, name) => resource(tokenWire(call.accountId, await operations.revokeToken(call.actor, name))),
  }),
  ...both({
    method: "DELETE",
    verb: "delete",
    query: nothing,
    summary: "Delete a revoked delegate token",
    answer: resourced(z.literal(true)),
    examples: ["old-hosts", "edge-hosts"],
    handle: async (call, name) => {
      await operations.deleteToken(call.actor, name);
      return resource(true);
    },
  }),
];

const readRoutes = (operations: Operations): readonly Route[] => [
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
      const found = await operations.listTokens(call.actor, { name, status });
      return resource(found.map((token) => tokenWire(call.accountId, token)));
    },
  }),
  route({
    method: "GET",
    path: `${PATH}/delegate-groups`,
    operation: "delegate-token.groups",
    access: VIEW,
    errors: "resource",
    query: z.object({ delegateTokenName: z.string({ error: "is required" }) }),
    doc: {
      summary: "List the groups of delegates that came by a token; a delegate is its group",
      queryExample: { delegateTokenName: "old-hosts" },
      answer: resourced(z.array(groupShape)),
    },
    handle: async (call) => {
      const { name } = await operations.getToken(call.actor, call.query.delegateTokenName);
      const { items } = await operations.list(call.actor, { tokenName: name }, { limit: MAX_LISTED, offset: 0 });
      // A deleted delegate and its successor are one group: the successor has the later id and counts.
      const groups = new Map(items.map((delegate) => [delegate.name, delegate]));
      return resource([...groups.values()].map(groupWire));
    },
  }),
  route({
    method: "GET",
    path: ONE,
    operation: "delegate-token.get",
    access: VIEW,
    errors: "resource",
    query: nothing,
    doc: {
      summary: "Read a delegate token, never its value",
      params: { tokenName: "old-hosts" },
      answer: resourced(tokenShape),
    },
    handle: async (call) =>
      resource(tokenWire(call.accountId, await operations.getToken(call.actor, nameIn(call as Named)))),
  }),
];

export const tokenRoutes = (operations: Operations): readonly Route[] => [
  ...readRoutes(operations),
  ...changeRoutes(operations),
];
