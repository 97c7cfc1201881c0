/**
 * Cookies of the browser. Behind https their names begin with `__Host-`: browsers accept such a cookie from this exact
 * host only, over https, for the whole path. Plain http, for trials on one's own machine, cannot have that prefix.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { OpenedSession } from "./open-session.ts";
import { writeSession } from "./session.ts";

export type CookieKind = "session" | "device" | "sign_in";

export type Cookies = {
  /** The value of the cookie. Undefined if it is missing, or if two cookies of the name have different values. */
  readonly read: (headers: IncomingHttpHeaders, kind: CookieKind) => string | undefined;
  /**
   * The text of `set-cookie`. `sameSite` is Strict, except for a cookie that has to be sent when another site redirects
   * here.
   */
  readonly write: (
    kind: CookieKind,
    value: string,
    how: { readonly seconds: number; readonly sameSite?: "Lax" },
  ) => string;
  readonly clear: (kind: CookieKind) => string;
};

export function createCookies(publicUrl: () => string): Cookies {
  const isSecure = (): boolean => publicUrl().startsWith("https:");
  const nameOf = (kind: CookieKind): string => `${isSecure() ? "__Host-" : ""}railhead_${kind}`;
  const write: Cookies["write"] = (kind, value, { seconds, sameSite = "Strict" }) =>
    [
      `${nameOf(kind)}=${value}`,
      "Path=/",
      `Max-Age=${seconds}`,
      "HttpOnly",
      `SameSite=${sameSite}`,
      ...(isSecure() ? ["Secure"] : []),
    ].join("; ");
  return {
    read: ({ cookie }, kind) => {
      const found = valuesOf(cookie ?? "", nameOf(kind));
      return found.every((value) => value === found[0]) ? found[0] : undefined;
    },
    write,
    clear: (kind) => write(kind, "", { seconds: 0 }),
  };
}

const valuesOf = (header: string, name: string): readonly string[] =>
  header.split(";").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });

/** The cookie of a session that was just opened. */
export const sessionCookie = (cookies: Cookies, opened: OpenedSession, now: number): string =>
  cookies.write("session", writeSession(opened), { seconds: Math.floor((opened.expiresAt - now) / 1_000) });
