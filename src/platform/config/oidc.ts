/** Single sign-on by OpenID Connect, as the environment configures it. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

/** The checked variables `RAILHEAD_OIDC_*`. `scopes`: words with spaces between them (RFC 6749, section 3.3). */
export type OidcConfig = {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client, which uses PKCE only. */
  readonly clientSecret: string | undefined;
  readonly scopes: string;
  /** What the button says: "Sign in with …". */
  readonly name: string;
  /** Whether the first sign-in links a provider's user to the user with the same verified e-mail address. */
  readonly linkByEmail: boolean;
};

type Env = Readonly<Record<string, string | undefined>>;

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Undefined without an issuer. Values that may hold secrets are not repeated in faults. */
export function readOidc(env: Env, cwd: string, faults: string[]): OidcConfig | undefined {
  const others = ["CLIENT_ID", "CLIENT_SECRET", "CLIENT_SECRET_FILE", "SCOPES", "NAME", "LINK_BY_EMAIL"];
  const issuer = env["RAILHEAD_OIDC_ISSUER"];
  if (!issuer) {
    const alone = others.find((name) => env[`RAILHEAD_OIDC_${name}`]);
    if (alone) faults.push(`RAILHEAD_OIDC_${alone} is set without RAILHEAD_OIDC_ISSUER.`);
    return undefined;
  }
  const clientId = env["RAILHEAD_OIDC_CLIENT_ID"] ?? "";
  if (clientId === "") faults.push("RAILHEAD_OIDC_CLIENT_ID is missing; the provider gives one to each application.");
  const name = env["RAILHEAD_OIDC_NAME"] || "single sign-on";
  if (name.length > 60 || /\p{C}/u.test(name)) faults.push("RAILHEAD_OIDC_NAME takes up to 60 characters on one line.");
  return {
    issuer: readIssuer(issuer, faults),
    clientId,
    clientSecret: readSecret(env, cwd, faults),
    scopes: readScopes(env["RAILHEAD_OIDC_SCOPES"], faults),
    name,
    linkByEmail: readLink(env["RAILHEAD_OIDC_LINK_BY_EMAIL"], faults),
  };
}

function readIssuer(text: string, faults: string[]): string {
  const url = URL.parse(text);
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && LOOPBACK.has(url.hostname));
  if (isSafe && !url.search && !url.hash && !url.username && !url.password) return text;
  faults.push(
    "RAILHEAD_OIDC_ISSUER takes the provider's https address as it writes it, such as https://login.example.com/realms/main.",
  );
  return text;
}

function readSecret(env: Env, cwd: string, faults: string[]): string | undefined {
  const [value, file] = [env["RAILHEAD_OIDC_CLIENT_SECRET"], env["RAILHEAD_OIDC_CLIENT_SECRET_FILE"]];
  if (value && file)
    faults.push("RAILHEAD_OIDC_CLIENT_SECRET and RAILHEAD_OIDC_CLIENT_SECRET_FILE are both set; set one of them.");
  if (value || !file) return value || undefined;
  try {
    const text = readFileSync(resolve(cwd, file), "utf8").trim();
    if (text !== "") return text;
    faults.push("RAILHEAD_OIDC_CLIENT_SECRET_FILE names an empty file.");
  } catch (error) {
    faults.push(`RAILHEAD_OIDC_CLIENT_SECRET_FILE cannot be read: ${(error as Error).message}.`);
  }
  return undefined;
}

function readScopes(text: string | undefined, faults: string[]): string {
  const scopes = (text || "openid profile email").split(/[\s,]+/).filter((scope) => scope !== "");
  if (!scopes.includes("openid"))
    faults.push(`RAILHEAD_OIDC_SCOPES is "${scopes.join(" ")}"; openid has to be among them.`);
  return scopes.join(" ");
}

function readLink(text: string | undefined, faults: string[]): boolean {
  if (!text || text === "off") return false;
  if (text !== "on") faults.push(`RAILHEAD_OIDC_LINK_BY_EMAIL is "${text}"; it takes on or off.`);
  return true;
}
