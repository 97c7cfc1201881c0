/** Invitations: made and revoked by administrators, accepted by the people who have the link (docs/api/people.md). */
import { z } from "zod";
import { toWire } from "../../core/ids.ts";
import { ok, okWith } from "../../platform/http/response/answers.ts";
import { envelopeOf } from "../../platform/http/request/bodies.ts";
import { ngPage, ngPageQuery, ngPageShape, ngWindow } from "../../platform/http/response/pages.ts";
import { publicRoute, route, type Route } from "../../platform/http/routes.ts";
import { enveloped, epochMs, wireId } from "../../platform/http/response/shapes.ts";
import type { AcceptInvitation, CheckInvitation } from "../invitation/accept.ts";
import type { CreateInvitation } from "../invitation/create.ts";
import { DEFAULT_DAYS, MAX_DAYS, type ListedInvitation } from "../invitation/invitation.ts";
import type { ListInvitations, RevokeInvitation } from "../invitation/manage.ts";
import type { Devices } from "../password/devices.ts";
import { checkOrigin } from "../session/origin.ts";
import { signedInShape } from "./shapes.ts";
import {
  jsonOf,
  JSON_ONLY,
  NO_STORE,
  passwordText,
  signedInAnswer,
  visitorOf,
  type SignedInDeps,
} from "./signed-in.ts";

type Operations = {
  readonly create: CreateInvitation;
  readonly list: ListInvitations;
  readonly revoke: RevokeInvitation;
  readonly check: CheckInvitation;
  readonly accept: AcceptInvitation;
  readonly answers: SignedInDeps & { readonly devices: Devices };
  readonly publicUrl: () => string;
};

const NO_QUERY = z.object({});
const ONE = "/auth/users/:userId/invitation";
const MANAGE = { permission: "core_user_manage" };

const newBody = z.strictObject({
  validDays: z.int().min(1, "takes 1 to 30 days").max(MAX_DAYS, "takes 1 to 30 days").nullish(),
});

const listedShape = z.strictObject({
  userId: wireId,
  name: z.string(),
  email: z.string(),
  createdBy: z.strictObject({ type: z.enum(["USER", "SERVICE_ACCOUNT"]), uuid: wireId }),
  createdAt: epochMs,
  expiresAt: epochMs,
});

const listedWire = (one: ListedInvitation): z.output<typeof listedShape> => ({
  ...{ userId: toWire(one.userId), name: one.name, email: one.email },
  createdBy: { type: one.author.kind === "user" ? "USER" : "SERVICE_ACCOUNT", uuid: toWire(one.author.id) },
  ...{ createdAt: one.createdAt, expiresAt: one.expiresAt },
});

const manageRoutes = ({ create, list, revoke }: Operations): readonly Route[] => [
  route({
    method: "POST",
    path: ONE,
    operation: "invitation.create",
    access: MANAGE,
    query: NO_QUERY,
    doc: {
      summary: "Make the link with which a user chooses a first password, once",
      description:
        "Answers the link once; no mail is sent. It is valid for validDays (default: 7, at most 30) and replaces an earlier one. Refused with 402 if the user can sign in already, with 403 if the user holds more than the caller, and with 400 for oneself.",
      body: { schema: newBody, required: false, example: { validDays: 3 } },
      answer: enveloped(z.strictObject({ email: z.string(), link: z.string(), expiresAt: epochMs })),
    },
    handle: async (call) => {
      const { validDays } = call.body.bytes.length === 0 ? {} : envelopeOf(call, newBody);
      const days = validDays ?? DEFAULT_DAYS;
      return okWith(call, await create(call.actor, call.params["userId"] ?? "", { days }), NO_STORE);
    },
  }),
  route({
    method: "DELETE",
    path: ONE,
    operation: "invitation.revoke",
    access: MANAGE,
    query: NO_QUERY,
    doc: { summary: "Revoke the invitation of a user", answer: enveloped(z.literal(true)) },
    handle: async (call) => {
      await revoke(call.actor, call.params["userId"] ?? "");
      return ok(call, true);
    },
  }),
  route({
    method: "GET",
    path: "/auth/invitations",
    operation: "invitation.list",
    access: { permission: "core_user_view" },
    query: ngPageQuery(50, 100),
    doc: {
      summary: "List the invitations that are valid, newest first, without their links",
      answer: enveloped(ngPageShape(listedShape)),
    },
    handle: async (call) => ok(call, await ngPage(await list(call.actor, ngWindow(call.query)), listedWire)),
  }),
];

const token = z.string().min(1).max(256).describe("What follows `invitation=` in the link.");
const checkBody = z.strictObject({ token });
const acceptBody = z.strictObject({ token, newPassword: passwordText });
const BY_LINK = { public: "the caller has no credential yet except the token of the link in the body" };

const acceptRoutes = ({ check, accept, answers, publicUrl }: Operations): readonly Route[] => [
  publicRoute({
    method: "POST",
    path: "/auth/login/invitation/check",
    operation: "invitation.check",
    access: BY_LINK,
    query: NO_QUERY,
    doc: {
      summary: "Read for whom an invitation is, without using it up",
      body: { schema: checkBody, types: JSON_ONLY, example: { token: "token-of-an-invitation-to-check" } },
      answer: enveloped(
        z.strictObject({ name: z.string(), email: z.string(), accountName: z.string(), expiresAt: epochMs }),
      ),
      refuses: ["401", "403"],
    },
    handle: async (call) => {
      checkOrigin(call.headers, publicUrl());
      return okWith(call, await check(jsonOf(checkBody, call).token, visitorOf(call)), NO_STORE);
    },
  }),
  publicRoute({
    method: "POST",
    path: "/auth/login/invitation",
    operation: "invitation.accept",
    access: BY_LINK,
    query: NO_QUERY,
    doc: {
      summary: "Accept an invitation: choose a password and sign in",
      description:
        "Sets the session's cookie. An unknown, used, revoked, replaced and expired invitation get the same 401. After many failures the answer is 429 with Retry-After.",
      body: {
        schema: acceptBody,
        types: JSON_ONLY,
        example: { token: "token-of-an-invitation-to-accept", newPassword: "seven grey herons at dusk" },
      },
      answer: signedInShape,
      refuses: ["401", "403"],
    },
    handle: async (call) => {
      checkOrigin(call.headers, publicUrl());
      const signedIn = await accept(jsonOf(acceptBody, call), visitorOf(call));
      const deviceCookie = answers.devices.remember(signedIn.opened.accountId, signedIn.person.id);
      return signedInAnswer(call, answers, { ...signedIn, deviceCookie });
    },
  }),
];

export const invitationRoutes = (operations: Operations): readonly Route[] => [
  ...manageRoutes(operations),
  ...acceptRoutes(operations),
];
