/** Reads the current context of a kubeconfig. What it asks for and is not supported is refused by name. */
import { parse } from "yaml";
import { z } from "zod";
import {
  parseCertificates,
  parseClientKey,
  parseToken,
  type AccessText,
  type ClusterAccess,
} from "../../src/connectors/types/cluster-access.ts";
import { Unreached } from "../../src/platform/outgoing/unreached.ts";

export type KubeconfigFiles = {
  /** Reads a file that the kubeconfig names, with a relative path from its own folder. */
  readonly read: (path: string, source: string) => AccessText;
};

const text = z.string().min(1).optional();
const cluster = z.looseObject({
  server: z.string(),
  "certificate-authority": text,
  "certificate-authority-data": text,
});
const user = z.looseObject({
  token: text,
  tokenFile: text,
  "client-certificate": text,
  "client-certificate-data": text,
  "client-key": text,
  "client-key-data": text,
});
const schema = z.looseObject({
  "current-context": z.string().min(1),
  contexts: z.array(
    z.looseObject({ name: z.string(), context: z.looseObject({ cluster: z.string(), user: z.string() }) }),
  ),
  clusters: z.array(z.looseObject({ name: z.string(), cluster })),
  users: z.array(z.looseObject({ name: z.string(), user })),
});

/** These change whom or what the connection trusts, so that ignoring them would be wrong. */
const UNSUPPORTED = {
  cluster: ["insecure-skip-tls-verify", "tls-server-name", "proxy-url"],
  user: ["exec", "auth-provider", "username", "password", "as", "as-uid", "as-groups", "as-user-extra"],
} as const;

const invalid = (message: string): Unreached => new Unreached("No identity", message);
const CONFIG = "The delegate's kubeconfig";

/** @throws Unreached */
export function readKubeconfig(yaml: string, files: KubeconfigFiles): ClusterAccess {
  const config = parseConfig(yaml);
  const current = config["current-context"];
  const context = config.contexts.find(({ name }) => name === current)?.context;
  const found = config.clusters.find(({ name }) => name === context?.cluster)?.cluster;
  const identity = config.users.find(({ name }) => name === context?.user)?.user;
  if (!found || !identity) throw invalid(`${CONFIG} has no cluster or no user for its current context.`);
  refuseUnsupported("cluster", found);
  refuseUnsupported("user", identity);
  if (URL.parse(found.server)?.protocol !== "https:") throw invalid(`${CONFIG} has a server without https.`);
  const ca = select({ files, values: found }, "certificate-authority");
  return {
    server: found.server,
    ca: ca && parseCertificates(ca),
    credential: readCredential(files, identity),
  };
}

function parseConfig(yaml: string): z.output<typeof schema> {
  let document: unknown;
  try {
    document = parse(yaml, { maxAliasCount: 0 });
  } catch {
    // The parser's message could quote a credential.
    throw invalid(`${CONFIG} is not YAML.`);
  }
  const parsed = schema.safeParse(document);
  if (!parsed.success) throw invalid(`${CONFIG} has no valid ${parsed.error.issues[0]?.path.join(".") || "content"}.`);
  return parsed.data;
}

function refuseUnsupported(kind: keyof typeof UNSUPPORTED, values: Readonly<Record<string, unknown>>): void {
  const found = UNSUPPORTED[kind].find((name) => ![undefined, null, false, ""].includes(values[name] as never));
  if (found !== undefined) throw invalid(`${CONFIG} uses '${found}', which delegates do not support.`);
}

function readCredential(files: KubeconfigFiles, identity: z.output<typeof user>): ClusterAccess["credential"] {
  const from = { files, values: identity };
  const [certificate, key] = [select(from, "client-certificate"), select(from, "client-key")];
  if (certificate && key) return parseClientKey({ certificate, key, passphrase: undefined, algorithm: undefined });
  const token = identity.tokenFile === undefined ? undefined : files.read(identity.tokenFile, `${CONFIG}: tokenFile`);
  const found =
    token ?? (identity.token === undefined ? undefined : { source: `${CONFIG}: token`, text: identity.token });
  if (!found) throw invalid(`${CONFIG} has neither a token nor a client certificate for its user.`);
  return { kind: "token", token: parseToken(found) };
}

type Selected = { readonly files: KubeconfigFiles; readonly values: Readonly<Record<string, unknown>> };

/** The text of a field that is given as data or as a file; data comes first, as for kubectl. */
function select({ files, values }: Selected, name: string): AccessText | undefined {
  const [data, path] = [values[`${name}-data`], values[name]];
  const source = `${CONFIG}: ${name}`;
  if (typeof data === "string") return { source, text: Buffer.from(data, "base64").toString("utf8") };
  return typeof path === "string" ? files.read(path, source) : undefined;
}
