/** REST routes of sign-in, sign-out and sessions (docs/api/login.md). */
import { z } from "zod";
import { ok, okWith } from "../../platform/http/response/answers.ts";
import { publicRoute, sessionRoute, type Answer, type PublicCall, type Route } from "../../platform/http/routes.ts";
import type { ChangePassword } from "../password/change-password.ts";
import type { Cookies } from "../session/cookies.ts";
import type { Devices } from "../password/devices.ts";
import type { SessionGuard } from "../session/session-guard.ts";
import type { ListSessions } from "../session/list-sessions.ts";
import { identityRoutes, type IdentityOperations } from "./identities.ts";
import { checkOrigin } from "../session/origin.ts";
import {
  endedShape,
  listedShape,
  listedWire,
  sessionShape,
  signedInShape,
  signedInWire,
  signedOutWire,
} from "./shapes.ts";
import { jsonOf, JSON_ONLY, NO_STORE, passwordText, signedInAnswer, visitorOf } from "./signed-in.ts";
import type { SignIn } from "../password/sign-in.ts";
import type { EndSession, SignOut, SignOutEverywhere } from "../session/sign-out.ts";

export type Operations = {
  readonly signIn: SignIn;
  readonly changePassword: ChangePassword;
  readonly signOut: SignOut;
  readonly endSession: EndSession;
  readonly signOutEverywhere: SignOutEverywhere;
  readonly listSessions: ListSessions;
  readonly sessionGuard: Pick<SessionGuard, "findSession">;
  readonly identities: IdentityOperations;
  /** The identity provider; undefined if none is configured. */
  readonly provider: { readonly name: string } | undefined;
  readonly cookies: Cookies;
  readonly devices: Devices;
  readonly now: () => number;
  readonly publicUrl: () => string;
};

const SESSION = { session: "acts on the signed-in user" };
const NO_QUERY = z.object({});

const credentials = z.strictObject({ email: z.string().min(1).max(254), password: passwordText });
const change = z.strictObject({ currentPassword: passwordText, newPassword: passwordText });

const signedOutAnswer = (operations: Operations, call: PublicCall, data: unknown): Answer =>
  okWith(call, data, { ...NO_STORE, "set-cookie": [operations.cookies.clear("session")] });

const signInRoute = (operations: Operations): Route =>
  publicRoute({
    method: "POST",
    path: "/auth/login",
    operation: "session.create",
    access: { public: "the caller has no credential yet except the password in the body" },
    query: NO_QUERY,
    doc: {
      summary: "Sign in with e-mail and password",
      description:
        "Sets the session's cookie. A wrong password and an unknown user get the same 401. After many failures the answer is 429 with Retry-After.",
      body: {
        schema: credentials,
        types: JSON_ONLY,
        example: { email: "admin@railhead.local", password: "plum-lantern-orbit-42" },
      },
      answer: signedInShape,
      refuses: ["401", "403"],
    },
    handle: async (call) => {
      checkOrigin(call.headers, operations.publicUrl());
      const { opened, person } = await operations.signIn(jsonOf(credentials, call), call.headers, visitorOf(call));
      const deviceCookie = operations.devices.remember(opened.accountId, person.id);
      return signedInAnswer(call, operations, { opened, person, deviceCookie });
    },
  });

const sessionRouteOfBrowser = (operations: Operations): Route =>
  publicRoute({
    method: "GET",
    path: "/auth/session",
    operation: "session.get",
    access: { public: "returns the signed-in user, if any, and the anti-forgery token for pages of this server" },
    query: NO_QUERY,
    doc: {
      summary: "Get the signed-in user and the session's anti-forgery token",
      answer: sessionShape,
      refuses: ["403"],
    },
    handle: async (call) => {
      const live = await operations.sessionGuard.findSession(call.headers);
      return okWith(
        call,
        live ? signedInWire(live, operations.provider) : signedOutWire(operations.provider),
        NO_STORE,
      );
    },
  });

const changePasswordRoute = (operations: Operations): Route =>
  sessionRoute({
    method: "POST",
    path: "/auth/password",
    operation: "password.change",
    access: SESSION,
    query: NO_QUERY,
    doc: {
      summary: "Change one's own password",
      description:
        "All other sessions of the user end. This one continues with a new cookie and a new anti-forgery token.",
      body: {
        schema: change,
        types: JSON_ONLY,
        example: { currentPassword: "plum-lantern-orbit-42", newPassword: "seven grey herons at dusk" },
      },
      answer: signedInShape,
    },
    handle: async (call) => {
      const signedIn = await operations.changePassword(jsonOf(change, call), call.headers, visitorOf(call));
      return signedInAnswer(call, operations, signedIn);
    },
  });

const endSessionRoutes = (operations: Operations): readonly Route[] => [
  sessionRoute({
    method: "POST",
    path: "/auth/logout",
    operation: "session.end",
    access: SESSION,
    query: NO_QUERY,
    doc: { summary: "Sign out: end this session", answer: endedShape },
    handle: async (call) => {
      await operations.signOut(call.headers, call.facts);
      return signedOutAnswer(operations, call, { ended: 1 });
    },
  }),
  sessionRoute({
    method: "GET",
    path: "/auth/sessions",
    operation: "session.list",
    access: SESSION,
    query: NO_QUERY,
    doc: { summary: "List one's own sessions, newest first", answer: listedShape },
    handle: async (call) => {
      const found = await operations.listSessions(call.headers);
      return okWith(call, found.map(listedWire), NO_STORE);
    },
  }),
  sessionRoute({
    method: "DELETE",
    path: "/auth/sessions",
    operation: "session.delete-all",
    access: SESSION,
    query: NO_QUERY,
    doc: { summary: "Sign out everywhere: end all of one's own sessions, including this one", answer: endedShape },
    handle: async (call) =>
      signedOutAnswer(operations, call, await operations.signOutEverywhere(call.headers, call.facts)),
  }),
  sessionRoute({
    method: "DELETE",
    path: "/auth/sessions/:sessionId",
    operation: "session.delete",
    access: SESSION,
    query: NO_QUERY,
    doc: { summary: "End one of one's own sessions", answer: endedShape },
    handle: async (call) => {
      await operations.endSession(call.headers, call.params["sessionId"] ?? "", call.facts);
      return ok(call, { ended: 1 });
    },
  }),
];

export const loginRoutes = (operations: Operations): readonly Route[] => [
  signInRoute(operations),
  sessionRouteOfBrowser(operations),
  changePasswordRoute(operations),
  ...endSessionRoutes(operations),
  ...identityRoutes(operations.identities),
];
