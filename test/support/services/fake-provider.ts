/** An OpenID provider with responses that a correct provider never sends. The test decides about them. */
import { createHmac, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

type Claims = Record<string, unknown>;
export type Token = {
  readonly header: Record<string, unknown>;
  readonly claims: Claims;
  readonly key: KeyObject | Buffer | undefined;
};

export type FakeProvider = {
  readonly issuer: string;
  /** Changes the next ID token, which is valid otherwise. */
  changeToken: (token: Token) => Token;
  /** Changes the discovery document. */
  changeDiscovery: (document: Claims) => Claims;
  /** The nonce for a valid token. The test takes it from the authorization request. */
  nonce: string;
  readonly publicKey: KeyObject;
  readonly tokenRequests: readonly URLSearchParams[];
  /** Paths of the requests, in order. */
  readonly requestPaths: readonly string[];
  readonly stop: () => Promise<void>;
};

export const CLIENT = { clientId: "railhead", clientSecret: "a secret of the test" } as const;

export async function startFakeProvider(): Promise<FakeProvider> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: "one", use: "sig", alg: "RS256" };
  const tokenRequests: URLSearchParams[] = [];
  const requestPaths: string[] = [];
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const self: FakeProvider = {
    issuer,
    changeToken: (token) => token,
    changeDiscovery: (document) => document,
    nonce: "",
    publicKey,
    tokenRequests,
    requestPaths,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  const document = {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    authorization_response_iss_parameter_supported: true,
  };
  const respond = async (request: IncomingMessage, answer: (body: unknown) => void): Promise<void> => {
    requestPaths.push(request.url ?? "");
    if (request.url === "/.well-known/openid-configuration") return answer(self.changeDiscovery(document));
    if (request.url === "/jwks") return answer({ keys: [jwk] });
    let body = "";
    for await (const chunk of request) body += String(chunk);
    tokenRequests.push(new URLSearchParams(body));
    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: issuer, aud: CLIENT.clientId, sub: "subject-1", nonce: self.nonce, iat: now, exp: now + 60 };
    const token = self.changeToken({ header: { alg: "RS256", kid: "one" }, claims, key: privateKey });
    answer({ access_token: "an access token", token_type: "Bearer", expires_in: 60, id_token: encodeToken(token) });
  };
  server.on("request", (request, response) => {
    const answer = (body: unknown): void =>
      void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    respond(request, answer).catch(() => response.destroy());
  });
  return self;
}

function encodeToken({ header, claims, key }: Token): string {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  if (key === undefined) return `${text}.`;
  const signature = Buffer.isBuffer(key)
    ? createHmac("sha256", key).update(text).digest()
    : sign("sha256", Buffer.from(text), key);
  return `${text}.${signature.toString("base64url")}`;
}
