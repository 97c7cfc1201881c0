/** The key server of an OpenID provider: a real HTTP server with a real key set, and tokens signed with its keys. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTHeaderParameters } from "jose";

export type SigningKey = { readonly jwk: JWK; readonly privateKey: CryptoKey; readonly publicKey: CryptoKey };

export async function signingKey(algorithm = "RS256", more: Partial<JWK> = {}): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return { jwk: { ...(await exportJWK(publicKey)), ...more }, privateKey, publicKey };
}

/** Signs the claims with the algorithm `header.alg`. Times are in seconds. */
export const signToken = (key: CryptoKey | Uint8Array, header: JWTHeaderParameters, claims: object): Promise<string> =>
  new SignJWT({ ...claims }).setProtectedHeader(header).sign(key);

export type KeyServer = {
  readonly url: string;
  readonly place: string;
  /** Answers the next requests. */
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  /** Number of requests. */
  readonly asked: () => number;
  readonly serve: (keys: readonly JWK[]) => void;
  readonly close: () => Promise<void>;
};

export async function startKeyServer(): Promise<KeyServer> {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    made.answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const made: KeyServer = {
    url: `http://${place}/keys`,
    place,
    answer: (_request, response) => void response.writeHead(404).end(),
    asked: () => asked,
    serve: (keys) => void (made.answer = (_request, response) => void response.end(JSON.stringify({ keys }))),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return made;
}
