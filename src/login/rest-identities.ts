/**
 * Identities of the provider over REST: one's own with a session, those of others with a permission
 * (docs/operations/single-sign-on.md).
 */
import { z } from "zod";
import { toWire } from "../core/ids.ts";
import { ok, okWith } from "../platform/http/answers.ts";
import { route, sessionRoute, type Route } from "../platform/http/routes.ts";
import { enveloped, epochMs, wireId } from "../platform/http/shapes.ts";
import type { OwnIdentities, PeoplesIdentities } from "./oidc/identities.ts";
import type { Identity } from "./store/identities.ts";

export type IdentityOperations = {
  readonly own: OwnIdentities;
  readonly peoples: PeoplesIdentities;
};

const SESSION = { session: "about the person who is signed in, for their own browser" };
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

const ownRoutes = ({ own }: IdentityOperations): readonly Route[] => [
  sessionRoute({
    method: "GET",
    path: "/auth/identities",
    operation: "identity.list-own",
    access: SESSION,
    query: NO_QUERY,
    doc: { summary: "Which identities of the identity provider sign one in", answer: identities },
    handle: async (call) => okWith(call, wire(await own.list(call.headers)), NO_STORE),
  }),
  sessionRoute({
    method: "DELETE",
    path: "/auth/identities/:identityId",
    operation: "identity.unlink-own",
    access: SESSION,
    query: NO_QUERY,
    doc: {
      summary: "Let an identity no longer sign one in",
      description: "Refused with 402 where nothing else would: no password and no other identity.",
      answer: unlinked,
    },
    handle: async (call) => {
      await own.unlink(call.headers, call.params["identityId"] ?? "", call.facts);
      return ok(call, { unlinked: true });
    },
  }),
];

const peoplesRoutes = ({ peoples }: IdentityOperations): readonly Route[] => [
  route({
    method: "GET",
    path: "/auth/users/:userId/identities",
    operation: "identity.list",
    access: { permission: "core_user_view" },
    query: NO_QUERY,
    doc: { summary: "Which identities of the identity provider sign a person in", answer: identities },
    handle: async (call) => ok(call, wire(await peoples.list(call.actor, call.params["userId"] ?? ""))),
  }),
  route({
    method: "POST",
    path: "/auth/users/:userId/identities/allow",
    operation: "identity.allow-link",
    access: { permission: "core_user_manage" },
    query: NO_QUERY,
    doc: {
      summary: "Let a person be linked by e-mail, once",
      description:
        "For seven days the first single sign-on with this person's e-mail address, which the provider has to call verified, links the provider's identity with the person. Refused with 403 to who holds less than the person.",
      answer: enveloped(z.strictObject({ until: epochMs })),
    },
    handle: async (call) => ok(call, await peoples.allow(call.actor, call.params["userId"] ?? "")),
  }),
  route({
    method: "DELETE",
    path: "/auth/users/:userId/identities/:identityId",
    operation: "identity.unlink",
    access: { permission: "core_user_manage" },
    query: NO_QUERY,
    doc: { summary: "Let an identity no longer sign a person in", answer: unlinked },
    handle: async (call) => {
      await peoples.unlink(call.actor, call.params["userId"] ?? "", call.params["identityId"] ?? "");
      return ok(call, { unlinked: true });
    },
  }),
];

export const identityRoutes = (operations: IdentityOperations): readonly Route[] => [
  ...ownRoutes(operations),
  ...peoplesRoutes(operations),
];
