/**
 * Single sign-on over HTTP: two addresses that the browser visits, to the provider and back, which answer with
 * redirects, and one that a page calls to start linking. Without a provider they redirect to the sign-in page.
 */
import { z } from "zod";
import { okWith } from "../../platform/http/response/answers.ts";
import { publicRoute, sessionRoute, type Answer, type PublicCall, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import { sessionCookie } from "../session/cookies.ts";
import type { SessionGuard } from "../session/session-guard.ts";
import { LOGIN_HEADERS } from "../pages.ts";
import { problem } from "../problems.ts";
import { handleCallback, CALLBACK, startSignIn, startLink, type OidcDeps } from "./sign-in.ts";
import { localPathOf } from "./transaction.ts";

export type SingleSignOnDeps = {
  /** Undefined without a provider. */
  readonly sso: OidcDeps | undefined;
  readonly sessionGuard: Pick<SessionGuard, "requireSession">;
  readonly publicUrl: () => string;
};

/** Any text: a faulty value leads to a redirect with a failure, as every other refusal. */
const anyText = z.union([z.string(), z.array(z.string())]).optional();
const startQuery = z.object({ returnTo: anyText });
/** Unknown parameters are allowed, since the provider may add some. */
const callbackQuery = z.looseObject({ state: anyText, code: anyText, iss: anyText, error: anyText });

const HEADERS = { ...LOGIN_HEADERS, "cache-control": "no-store" };

/** The handlers of the two addresses that the browser visits. */
function createRedirectHandlers(publicUrl: () => string) {
  const base = (): string => URL.parse(publicUrl())?.pathname.replace(/\/$/, "") ?? "";
  const redirectTo = (location: string, cookies: readonly string[]): Answer => ({
    kind: "empty",
    status: 302,
    headers: { ...HEADERS, location, ...(cookies.length > 0 ? { "set-cookie": cookies } : {}) },
  });
  const failure = (reason: string, cookies: readonly string[] = []): Answer =>
    redirectTo(`${base()}/login?failure=${reason}`, cookies);

  async function start(deps: OidcDeps, returnTo: unknown): Promise<Answer> {
    const accountId = await deps.people.firstAccount();
    if (!accountId) return failure("unavailable");
    try {
      const { location, cookie } = await startSignIn(deps, accountId, {
        returnTo: localPathOf(returnTo),
        linking: undefined,
      });
      return redirectTo(location, [cookie]);
    } catch (error) {
      deps.log.warn({ err: error }, "the identity provider does not answer");
      return failure("unavailable");
    }
  }

  async function finish(deps: OidcDeps, call: PublicCall<z.output<typeof callbackQuery>>): Promise<Answer> {
    const agent = call.headers["user-agent"];
    const visitor = {
      facts: { ...call.facts, path: CALLBACK },
      userAgent: typeof agent === "string" ? agent : undefined,
    };
    const result = await handleCallback(deps, { query: searchOf(call.query), headers: call.headers, visitor });
    const clearedCookie = deps.cookies.clear("sign_in");
    if (result.kind === "failed") return failure(result.reason, [clearedCookie]);
    const to = `${base()}${result.returnTo}`;
    if (result.kind === "linked") return redirectTo(to, [clearedCookie]);
    return redirectTo(to, [sessionCookie(deps.cookies, result.opened, deps.clock.now()), clearedCookie]);
  }

  return { start, finish, failure };
}

export function singleSignOnRoutes({ sso, sessionGuard, publicUrl }: SingleSignOnDeps): readonly Route[] {
  const { start, finish, failure } = createRedirectHandlers(publicUrl);
  return [
    publicRoute({
      method: "GET",
      path: "/auth/oidc/start",
      operation: "single-sign-on.start",
      access: { public: "the caller signs in with the identity provider and has no credential yet" },
      query: startQuery,
      doc: {
        summary: "Start single sign-on: redirect to the identity provider",
        description:
          "`returnTo` is a path of this server for the redirect after sign-in. Without a provider, or if it does not answer, the browser is redirected to the sign-in page.",
        queryExample: { returnTo: "/login" },
        status: 302,
        answer: "nothing",
      },
      handle: async ({ query }) => (sso ? start(sso, query.returnTo) : failure("unavailable")),
    }),
    publicRoute({
      method: "GET",
      path: CALLBACK,
      operation: "single-sign-on.finish",
      access: { public: "the answer of the provider, checked by its sealed cookie, state and code" },
      query: callbackQuery,
      doc: {
        summary: "Callback of the identity provider",
        description:
          "Redirects to `returnTo` with the session's cookie, or to the sign-in page with the reason of the failure.",
        queryExample: { state: "a-state", code: "a-code" },
        status: 302,
        answer: "nothing",
      },
      handle: async (call) => (sso ? finish(sso, call) : failure("unavailable")),
    }),
    // A page's script calls this with the session and its anti-forgery token. A visit alone links nothing.
    sessionRoute({
      method: "POST",
      path: "/auth/oidc/link",
      operation: "single-sign-on.link",
      access: { session: "links an identity of the provider with the person who is signed in" },
      query: z.object({}),
      doc: {
        summary: "Begin to link an identity of the provider with oneself",
        description: "Answers where to lead the browser. Refused with 402 where no provider is configured.",
        answer: enveloped(z.strictObject({ location: z.string() })),
      },
      handle: async (call) => {
        // A caller who is not signed in gets the same answer with and without a provider.
        if (!sso) await sessionGuard.requireSession(call.headers);
        if (!sso) throw problem("login.no_provider");
        const { location, cookie } = await startLink(sso, call.headers);
        return okWith(call, { location }, { ...HEADERS, "set-cookie": [cookie] });
      },
    }),
  ];
}

/** The query as the provider wrote it. A repeated parameter stays repeated. */
function searchOf(query: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams();
  for (const [name, given] of Object.entries(query))
    for (const value of [given].flat()) if (typeof value === "string") search.append(name, value);
  return search.size === 0 ? "" : `?${search.toString()}`;
}
