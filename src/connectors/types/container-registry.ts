/** The connector type ContainerRegistry and its spec. */
import { z } from "zod";
import type { OutgoingResponse } from "../../platform/outgoing/get.ts";
import { challengeIn, type Challenge } from "./challenge.ts";
import { delegateSelectors, secretReference, webAddress } from "./fields.ts";
import { connectorType, type Fault, type TestTools } from "./type.ts";

const PROVIDERS = ["PublicHosted", "Harbor", "Quay", "Other"] as const;
const AUTH_TYPES = ["Anonymous", "UsernamePassword"];

const anonymous = z.strictObject({ type: z.literal("Anonymous"), spec: z.strictObject({}).nullish() });
const usernamePassword = z.strictObject({
  type: z.literal("UsernamePassword"),
  spec: z
    .strictObject({
      username: z.string().min(1).max(256).nullish(),
      usernameRef: secretReference.nullish(),
      passwordRef: secretReference,
    })
    .refine(({ username, usernameRef }) => (username ?? null) === null || (usernameRef ?? null) === null, {
      error: "takes username or usernameRef, not both",
    })
    .refine(({ username, usernameRef }) => (username ?? usernameRef ?? null) !== null, {
      error: "needs username or usernameRef",
    }),
});

const schema = z
  .strictObject({
    registryUrl: webAddress,
    providerType: z.enum(PROVIDERS),
    auth: z.discriminatedUnion("type", [anonymous, usernamePassword], {
      error: "must have the type Anonymous or UsernamePassword",
    }),
    delegateSelectors,
    executeOnDelegate: z.boolean().nullish(),
    ignoreTestConnection: z.boolean().nullish(),
    proxy: z.never().optional(),
  })
  .transform(({ auth, executeOnDelegate, ignoreTestConnection, proxy: _, ...spec }): RegistrySpec => ({
    ...spec,
    auth:
      auth.type === "Anonymous"
        ? { type: "Anonymous" }
        : {
            type: "UsernamePassword",
            spec: {
              username: auth.spec.username ?? null,
              usernameRef: auth.spec.usernameRef ?? null,
              passwordRef: auth.spec.passwordRef,
            },
          },
    // Stored only if set, so that other connectors have the documented shape.
    ...(executeOnDelegate === false ? { executeOnDelegate } : {}),
    ...(ignoreTestConnection === true ? { ignoreTestConnection } : {}),
  }));

type RegistrySpec = {
  readonly registryUrl: string;
  readonly providerType: (typeof PROVIDERS)[number];
  readonly auth:
    | { readonly type: "Anonymous" }
    | {
        readonly type: "UsernamePassword";
        readonly spec: {
          readonly username: string | null;
          readonly usernameRef: string | null;
          readonly passwordRef: string;
        };
      };
  readonly delegateSelectors: readonly string[];
  readonly executeOnDelegate?: false;
  readonly ignoreTestConnection?: true;
};

const shape = z.strictObject({
  registryUrl: z.url(),
  providerType: z.enum(PROVIDERS),
  auth: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("Anonymous") }),
    z.strictObject({
      type: z.literal("UsernamePassword"),
      spec: z.strictObject({
        username: z.string().nullable(),
        usernameRef: z.string().nullable(),
        passwordRef: z.string(),
      }),
    }),
  ]),
  delegateSelectors: z.array(z.string()),
  executeOnDelegate: z.literal(false).optional().describe("Left out where it is true."),
  ignoreTestConnection: z.literal(true).optional().describe("Left out where it is false."),
});

export const containerRegistry = connectorType<RegistrySpec>({
  name: "ContainerRegistry",
  category: "ARTIFACTORY",
  schema,
  shape,
  fieldValues: { providerType: PROVIDERS, "auth.type": AUTH_TYPES },
  // Written by hand, because the stored spec differs from the shown one.
  wire: (spec) => ({
    registryUrl: spec.registryUrl,
    providerType: spec.providerType,
    auth: spec.auth,
    delegateSelectors: spec.delegateSelectors,
    ...(spec.executeOnDelegate === false ? { executeOnDelegate: false } : {}),
    ...(spec.ignoreTestConnection ? { ignoreTestConnection: true } : {}),
  }),
  secrets: ({ auth }) => {
    if (auth.type === "Anonymous") return [];
    const at = (field: string, reference: string) => ({ path: ["auth", "spec", field], reference });
    const { usernameRef, passwordRef } = auth.spec;
    return [...(usernameRef === null ? [] : [at("usernameRef", usernameRef)]), at("passwordRef", passwordRef)];
  },
  origin: (spec) => ({
    selectors: spec.delegateSelectors,
    onDelegate: spec.executeOnDelegate !== false,
    untested: spec.ignoreTestConnection === true,
  }),
  test,
});

/**
 * Tests the version 2 API of a registry. Its base path answers 200, or 401 with a challenge. A Basic challenge asks for
 * the password. A Bearer challenge names the service that issues a token, with or without a password.
 */
async function test(spec: RegistrySpec, tools: TestTools): Promise<Fault | undefined> {
  const base = baseOf(spec.registryUrl);
  const basic = credentialsOf(spec, tools);
  const first = await tools.get(base);
  if (first.status !== 401) return checkAnswer(first, basic);
  // The password is for the configured origin only.
  if (basic !== undefined && new URL(first.url).origin !== new URL(base).origin)
    return fault("Redirect", `The registry redirects to ${new URL(first.url).origin}; name that in registryUrl.`, 401);
  const challenge = challengeIn(first.headers["www-authenticate"]);
  if (!challenge) return notRegistry(first, "it answers 401 without a challenge that registries use");
  const answer = challenge.scheme === "basic" ? basic : await tokenFor(challenge, first.url, basic, tools);
  if (answer === undefined) return fault("Authentication", "The registry asks for a user name and a password.", 401);
  if (typeof answer !== "string") return answer;
  return checkAnswer(await tools.get(first.url, { authorization: answer }), basic);
}

function baseOf(registryUrl: string): string {
  const url = new URL(registryUrl);
  url.search = url.hash = "";
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith("/v2") ? `${path}/` : `${path}/v2/`;
  return url.href;
}

/** The `Authorization` header with name and password; undefined for anonymous access. */
function credentialsOf({ auth }: RegistrySpec, { secret }: TestTools): string | undefined {
  if (auth.type === "Anonymous") return undefined;
  const { username, usernameRef, passwordRef } = auth.spec;
  const name = username ?? (usernameRef === null ? "" : secret(usernameRef));
  return `Basic ${Buffer.from(`${name}:${secret(passwordRef)}`).toString("base64")}`;
}

async function tokenFor(
  { realm, params }: Extract<Challenge, { scheme: "bearer" }>,
  registry: string,
  basic: string | undefined,
  tools: TestTools,
): Promise<string | Fault> {
  const url = URL.parse(realm);
  if (!url || !/^https?:$/.test(url.protocol))
    return fault("Not a registry", "The registry names no place to get a token from.", 401);
  // A challenge must not make the client send the password without TLS.
  if (url.protocol === "http:" && registry.startsWith("https:"))
    return fault("Authentication", `The registry asks for the credentials at ${url.host} without TLS.`, 401);
  for (const [name, value] of params) url.searchParams.set(name, value);
  const got = await tools.get(url.href, basic === undefined ? {} : { authorization: basic });
  if (got.status === 401 || got.status === 403) return refused(got, basic);
  const token = got.status === 200 ? tokenIn(got.body) : undefined;
  return token === undefined
    ? fault("Authentication", `${url.host} gave no token: it answered ${got.status}.`, got.status)
    : `Bearer ${token}`;
}

function tokenIn(body: string): string | undefined {
  try {
    const { token, access_token: accessToken } = JSON.parse(body) as { token?: unknown; access_token?: unknown };
    // The token is sent in a header, so it must not contain control characters.
    return [token, accessToken].find((one): one is string => typeof one === "string" && /^[\x21-\x7e]+$/.test(one));
  } catch {
    return undefined;
  }
}

function checkAnswer(got: OutgoingResponse, basic: string | undefined): Fault | undefined {
  const { status, headers, url } = got;
  const { host } = new URL(url);
  if (status === 401 || status === 403) return refused(got, basic);
  // Some web servers answer every path with 200. A registry names its version or answers with JSON.
  const isRegistry =
    Object.entries(headers).some(
      ([name, value]) => name.endsWith("-distribution-api-version") && value === "registry/2.0",
    ) || /^application\/json\b/i.test(headers["content-type"] ?? "");
  if (status === 200) return isRegistry ? undefined : notRegistry(got, "it answers with something else");
  if (status >= 500 || status === 429) return fault("Registry failure", `${host} answered ${status}.`, status);
  return notRegistry(got, `it answered ${status}`);
}

const refused = ({ status, url }: OutgoingResponse, basic: string | undefined): Fault => {
  const { host } = new URL(url);
  const whom = basic === undefined ? "requests without a user name and a password" : "the user name or the password";
  return fault("Authentication", `${host} refused ${whom}.`, status);
};
const notRegistry = ({ status, url }: OutgoingResponse, why: string): Fault =>
  fault("Not a registry", `There is no container registry at ${url}: ${why}.`, status);
const fault = (reason: string, message: string, code: number): Fault => ({ reason, message, code });
