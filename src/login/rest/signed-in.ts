/** What the routes that open a session share. */
import { z } from "zod";
import { okWith } from "../../platform/http/response/answers.ts";
import { envelopeOf, type EnvelopeCall } from "../../platform/http/request/bodies.ts";
import type { Answer, PublicCall } from "../../platform/http/routes.ts";
import { LONGEST } from "../password/password-rules.ts";
import type { SignedIn } from "../password/sign-in.ts";
import { problem } from "../problems.ts";
import { sessionCookie, type Cookies } from "../session/cookies.ts";
import type { Visitor } from "../session/open-session.ts";
import { signedInWire } from "./shapes.ts";

export const JSON_ONLY = ["application/json"];
export const NO_STORE = { "cache-control": "no-store" } as const;

/** Longer than every accepted password: a longer text is refused without hashing. */
export const passwordText = z
  .string()
  .min(1)
  .max(4 * LONGEST);

/** A foreign page can send forms and plain text without a preflight request, but not JSON. */
export function jsonOf<T>(schema: z.ZodType<T>, call: EnvelopeCall): T {
  if (call.body.contentType !== "application/json") throw problem("login.only_json");
  return envelopeOf(call, schema);
}

export const visitorOf = ({ facts, headers }: Pick<PublicCall, "facts" | "headers">): Visitor => {
  const agent = headers["user-agent"];
  return { facts, userAgent: typeof agent === "string" ? agent : undefined };
};

export type SignedInDeps = {
  /** The identity provider; undefined if none is configured. */
  readonly provider: { readonly name: string } | undefined;
  readonly cookies: Cookies;
  readonly now: () => number;
};

/** Who is signed in, with the cookie of the new session. */
export function signedInAnswer(
  call: PublicCall,
  { provider, cookies, now }: SignedInDeps,
  { opened, person, deviceCookie }: SignedIn & { readonly deviceCookie?: string },
): Answer {
  const { accountId } = opened;
  const data = signedInWire({ accountId, person, secret: opened, session: opened }, provider);
  const set = [sessionCookie(cookies, opened, now())];
  if (deviceCookie !== undefined) set.push(deviceCookie);
  return okWith(call, data, { ...NO_STORE, "set-cookie": set });
}
