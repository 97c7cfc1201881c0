/** A token server for the test registry. It gives tokens to every client, or only to the user of registry.ts. */
import { execFile } from "node:child_process";
import { createHash, createPrivateKey, createPublicKey, randomUUID, sign, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { TOKEN_ISSUER, USER } from "./registry.ts";

const run = promisify(execFile);

export type Certificate = { readonly certificate: string; readonly key: string; readonly remove: () => Promise<void> };

/** Creates a key and a self-signed certificate for `localhost` as files. No program trusts the certificate. */
export async function createCertificate(): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), "railhead-test-certificate-"));
  const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  await run("openssl", ["req", "-x509", ...kind, ...name, "-keyout", key, "-out", certificate]);
  return { certificate, key, remove: () => rm(folder, { recursive: true, force: true }) };
}

export type TokenServer = {
  readonly realm: string;
  /** Requests with their credentials. */
  readonly asked: readonly { readonly query: string; readonly authorization: string | undefined }[];
  readonly stop: () => Promise<void>;
};

export async function startTokenServer(files: Certificate, open: "anyone" | "user"): Promise<TokenServer> {
  const asked: { query: string; authorization: string | undefined }[] = [];
  const right = `Basic ${Buffer.from(`${USER.name}:${USER.password}`).toString("base64")}`;
  const server = createServer((request, response) => {
    const { authorization } = request.headers;
    const url = new URL(request.url ?? "/", "http://localhost");
    asked.push({ query: url.search, authorization });
    if (authorization === undefined ? open === "user" : authorization !== right) {
      response.writeHead(401).end("{}");
      return;
    }
    const token = tokenFor(files, url.searchParams.get("service") ?? "");
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ token }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    realm: `http://127.0.0.1:${port}/token`,
    asked,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function tokenFor({ certificate, key }: Certificate, service: string): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: TOKEN_ISSUER,
    sub: "",
    aud: service,
    exp: now + 60,
    nbf: now - 60,
    iat: now,
    jti: randomUUID(),
    access: [],
  };
  const header = { typ: "JWT", alg: "ES256", kid: keyId(readFileSync(certificate, "utf8")) };
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part(header)}.${part(claims)}`;
  const signing = { key: createPrivateKey(readFileSync(key)), dsaEncoding: "ieee-p1363" } as const;
  return `${text}.${sign("sha256", Buffer.from(text), signing).toString("base64url")}`;
}

/** Returns the registry's id of a key: the first 240 bits of its hash in base32, in groups of four characters. */
function keyId(certificate: string): string {
  const der = createPublicKey(
    new X509Certificate(certificate).publicKey.export({ type: "spki", format: "pem" }),
  ).export({
    type: "spki",
    format: "der",
  });
  const bits = [...createHash("sha256").update(der).digest().subarray(0, 30)]
    .map((byte) => byte.toString(2).padStart(8, "0"))
    .join("");
  const digits = (bits.match(/.{5}/g) ?? []).map(
    (five) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[Number.parseInt(five, 2)],
  );
  return digits.join("").match(/.{4}/g)?.join(":") ?? "";
}
