/** A real OpenID provider for tests: oidc-provider on a local port, with its own sign-in pages. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";

export type ProviderAccount = { readonly sub: string; readonly email: string; readonly verified: boolean };

export type TestProvider = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Accounts by the name that a user types into the sign-in page. Other names get an unknown email address. */
  readonly accounts: Map<string, ProviderAccount>;
  /** Token requests in their order. */
  readonly redeemed: () => readonly URLSearchParams[];
  /** Allows redirects to this address from now on. */
  readonly allow: (redirectUri: string) => void;
  readonly stop: () => Promise<void>;
};

export async function startIdentityProvider(): Promise<TestProvider> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const accounts = new Map<string, ProviderAccount>();
  const redirects: string[] = ["http://127.0.0.1/unused"];
  const client = {
    client_id: "railhead",
    client_secret: "a secret of the test, long enough",
    redirect_uris: redirects,
  };
  const redeemed: URLSearchParams[] = [];

  const make = (): Provider =>
    new Provider(issuer, {
      clients: [
        { ...client, redirect_uris: [...redirects], grant_types: ["authorization_code"], response_types: ["code"] },
      ],
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
      cookies: { keys: ["a key of the test"] },
      pkce: { required: () => true },
      features: { devInteractions: { enabled: true } },
      findAccount: (_context, id) => {
        const { sub, email, verified } = accounts.get(id) ?? {
          sub: id,
          email: `${id}@nowhere.example`,
          verified: true,
        };
        return { accountId: id, claims: () => ({ sub, email, email_verified: verified, name: id }) };
      },
    });
  let provider = make();
  provider.on("grant.success", (context) => {
    redeemed.push(new URLSearchParams(context.oidc.body as Record<string, string>));
  });
  server.on("request", (request, response) => void provider.callback()(request, response));

  return {
    issuer,
    clientId: client.client_id,
    clientSecret: client.client_secret,
    accounts,
    redeemed: () => redeemed,
    allow: (redirectUri) => {
      redirects.push(redirectUri);
      provider = make();
      provider.on("grant.success", (context) => {
        redeemed.push(new URLSearchParams(context.oidc.body as Record<string, string>));
      });
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Follows the provider's sign-in pages without a browser. Returns the address to which the provider redirects. */
export async function signInAtProvider(start: string, name: string): Promise<string> {
  const jar = new Map<string, string>();
  let [url, form]: [string, URLSearchParams | undefined] = [start, undefined];
  for (let steps = 0; steps < 20; steps += 1) {
    const response = await fetch(url, {
      redirect: "manual",
      method: form ? "POST" : "GET",
      headers: {
        cookie: [...jar].map(([key, value]) => `${key}=${value}`).join("; "),
        ...(form ? { "content-type": "application/x-www-form-urlencoded" } : {}),
      },
      ...(form ? { body: form.toString() } : {}),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, key = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(key, value);
    }
    const text = await response.text();
    const location = response.headers.get("location");
    if (location) {
      const next = new URL(location, url);
      if (next.origin !== new URL(start).origin) return next.href;
      [url, form] = [next.href, undefined];
    } else {
      const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1];
      const action = /action="([^"]+)"/.exec(text)?.[1];
      if (!prompt || !action) throw new Error(`The provider shows no form: ${response.status} ${text.slice(0, 2_000)}`);
      [url, form] = [
        new URL(action, url).href,
        new URLSearchParams({ prompt, ...(prompt === "login" ? { login: name, password: "x" } : {}) }),
      ];
    }
  }
  throw new Error("The sign-in pages of the provider do not end.");
}
