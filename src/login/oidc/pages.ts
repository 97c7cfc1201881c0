/** The addresses that a browser goes to by itself: to the provider, and back from it. Both answer with a redirect. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { success } from "../../platform/http/envelope.ts";
import { sessionCookie } from "../cookies.ts";
import { guarded } from "../pages.ts";
import { arrive, CALLBACK, depart, departToLink, type OidcDeps } from "./sign-in.ts";
import { pathHere } from "./transaction.ts";

export function addOidcPages(app: FastifyInstance, deps: OidcDeps): void {
  const base = (): string => URL.parse(deps.publicUrl())?.pathname.replace(/\/$/, "") ?? "";
  const failure = (reason: string): string => `${base()}/login?failure=${reason}`;

  const start = async ({ query }: FastifyRequest): Promise<{ to: string; cookies: string[] }> => {
    const accountId = await deps.people.firstAccount();
    if (!accountId) return { to: failure("unavailable"), cookies: [] };
    try {
      const returnTo = pathHere((query as Record<string, unknown>)["returnTo"]);
      const { location, cookie } = await depart(deps, accountId, { returnTo, linking: undefined });
      return { to: location, cookies: [cookie] };
    } catch (error) {
      deps.log.warn({ err: error }, "the identity provider does not answer");
      return { to: failure("unavailable"), cookies: [] };
    }
  };

  const back = async (request: FastifyRequest): Promise<{ to: string; cookies: string[] }> => {
    const at = request.url.indexOf("?");
    const facts = { method: request.method, path: CALLBACK, remoteAddress: request.ip, correlationId: request.id };
    const visitor = { facts, userAgent: request.headers["user-agent"] };
    const arrival = await arrive(deps, at < 0 ? "" : request.url.slice(at), request.headers, visitor);
    const over = deps.cookies.clear("sign_in");
    if (arrival.kind === "failed") return { to: failure(arrival.reason), cookies: [over] };
    const to = `${base()}${arrival.returnTo}`;
    if (arrival.kind === "linked") return { to, cookies: [over] };
    return { to, cookies: [sessionCookie(deps.cookies, arrival.opened, deps.clock.now()), over] };
  };

  // By a script of the page, with the session and its anti-forgery token: being led here links nothing.
  for (const prefix of ["", "/gateway"])
    app.post(`${prefix}/auth/oidc/link`, async ({ headers, id }, reply) => {
      const { location, cookie } = await departToLink(deps, headers);
      const body = success({ location }, id);
      return guarded(reply).header("set-cookie", [cookie]).header("cache-control", "no-store").send(body);
    });
  for (const [path, answer] of [
    ["/auth/oidc/start", start],
    [CALLBACK, back],
  ] as const)
    for (const prefix of ["", "/gateway"])
      app.get(`${prefix}${path}`, async (request, reply) => {
        const { to, cookies } = await answer(request);
        return guarded(reply).header("set-cookie", cookies).header("cache-control", "no-store").redirect(to, 302);
      });
}
