/**
 * Identities of the provider over REST: one's own with a session, those of others with a permission
 * (docs/operations/single-sign-on.md).
 */
import { z } from "zod";
import { toWire } from "../../core/ids.ts";
import { ok, okWith } from "../../platform/http/response/answers.ts";
import { route, sessionRoute, type Route } from "../../platform/http/routes.ts";
import { enveloped, epochMs, wireId } from "../../platform/http/response/shapes.ts";
import type {
  allowLinkByEmail,
  listOwnIdentities,
  listUserIdentities,
  unlinkOwnIdentity,
  unlinkUserIdentity,
} from "../oidc/identities.ts";
import type { Identity } from "../store/identities.ts";

export type IdentityOperations = {
  readonly listOwn: ReturnType<typeof listOwnIdentities>;
  readonly unlinkOwn: ReturnType<typeof unlinkOwnIdentity>;
  readonly list: ReturnType<typeof listUserIdentities>;
  readonly allowLink: ReturnType<typeof allowLinkByEmail>;
  readonly unlink: ReturnType<typeof unlinkUserIdentity>;
};

const SESSION = { session: "acts on the signed-in user" };
const NO_STORE = { "cache-control": "no-store" } as const;
const NO_QUERY = z.object({});

const identities = enveloped(
  z.array(
    z.strictObject({
      id: wireId,
      issuer: z.string(),
      subject: z.string(),
      linkedAt: epochMs,
      lastUsedAt: epochMs.nullable(),
    }),
  ),
);
const unlinked = enveloped(z.strictObject({ unlinked: z.literal(true) }));

const wire = (found: readonly Identity[]) =>
  found.map(({ id, issuer, subject, linkedAt, lastUsedAt }) => ({
    id: toWire(id),
    issuer,
    subject,
    linkedAt,
    lastUsedAt,
  }));

const ownRoutes = ({ listOwn, unlinkOwn }: IdentityOperations): readonly Route[] => [
  sessionRoute({
    method: "GET",
    path: "/auth/identities",
    operation: "identity.list-own",
    access: SESSION,
    query: NO_QUERY,
    doc: { summary: "List one's own identities of the identity provider", answer: identities },
    handle: async (call) => okWith(call, wire(await listOwn(call.headers)), NO_STORE),
  }),
  sessionRoute({
    method: "DELETE",
    path: "/auth/identities/:identityId",
    operation: "identity.unlink-own",
    access: SESSION,
    query: NO_QUERY,
    doc: {
      summary: "Unlink one of one's own identities",
      description: "Refused with 402 if it is the only way to sign in: the user has no password and no other identity.",
      answer: unlinked,
    },
    handle: async (call) => {
      await unlinkOwn(call.headers, call.params["identityId"] ?? "", call.facts);
      return ok(call, { unlinked: true });
    },
  }),
];

const userRoutes = ({ list, allowLink, unlink }: IdentityOperations): readonly Route[] => [
  route({
    method: "GET",
    path: "/auth/users/:userId/identities",
    operation: "identity.list",
    access: { permission: "core_user_view" },
    query: NO_QUERY,
    doc: { summary: "List a user's identities of the identity provider", answer: identities },
    handle: async (call) => ok(call, wire(await list(call.actor, call.params["userId"] ?? ""))),
  }),
  route({
    method: "POST",
    path: "/auth/users/:userId/identities/allow",
    operation: "identity.allow-link",
    access: { permission: "core_user_manage" },
    query: NO_QUERY,
    doc: {
      summary: "Allow one link by e-mail for a user",
      description:
        "For seven days the first single sign-on with this user's e-mail address, verified by the provider, links the provider's identity with the user. Refused with 403 if the user holds more than the caller.",
      answer: enveloped(z.strictObject({ until: epochMs })),
    },
    handle: async (call) => ok(call, await allowLink(call.actor, call.params["userId"] ?? "")),
  }),
  route({
    method: "DELETE",
    path: "/auth/users/:userId/identities/:identityId",
    operation: "identity.unlink",
    access: { permission: "core_user_manage" },
    query: NO_QUERY,
    doc: { summary: "Unlink an identity of a user", answer: unlinked },
    handle: async (call) => {
      await unlink(call.actor, call.params["userId"] ?? "", call.params["identityId"] ?? "");
      return ok(call, { unlinked: true });
    },
  }),
];

export const identityRoutes = (operations: IdentityOperations): readonly Route[] => [
  ...ownRoutes(operations),
  ...userRoutes(operations),
];
