/**
 * A Kubernetes API server for tests: discovery, config maps and Deployments over TLS, for one token and for the clients of one CA.
 * It answers as a real one does to kubectl.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Texts in PEM. */
export type ClusterFiles = {
  readonly ca: string;
  readonly clientCertificate: string;
  readonly clientKey: string;
  readonly encryptedClientKey: string;
};

export const PASSPHRASE = "passphrase-of-the-client-key";
export const TOKEN = "eyJhbGciOiJSUzI1NiJ9.dG9rZW4tb2YtdGhlLXRlc3Q.c2lnbmF0dXJl";

export type ClusterRequest = { readonly method: string; readonly path: string; readonly user: string | null };

export type Deployment = {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary manifests
  readonly spec: any;
};

export type TestCluster = {
  readonly url: string;
  readonly files: ClusterFiles;
  readonly requests: readonly ClusterRequest[];
  /** Data by `namespace/name`. */
  readonly configMaps: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Deployments as they were created, by `namespace/name`. Each read finds one more of their pods ready. */
  readonly deployments: ReadonlyMap<string, Deployment>;
  readonly stop: () => Promise<void>;
};

export type ClusterRules = {
  /** The status of paths, also for known users. */
  readonly refuse?: Readonly<Record<string, number>>;
  /** False: the server knows no token, as behind a proxy that drops it. */
  readonly readsTokens?: boolean;
};

export async function startTestCluster({ refuse = {}, readsTokens = true }: ClusterRules = {}): Promise<TestCluster> {
  const folder = await mkdtemp(join(tmpdir(), "railhead-test-cluster-"));
  const files = await createFiles(folder);
  const requests: ClusterRequest[] = [];
  const configMaps = new Map<string, Readonly<Record<string, string>>>();
  const deployments = new Map<string, Deployment>();
  const ready = new Map<string, number>();
  const settings = { ca: files.ca, requestCert: true, rejectUnauthorized: false };
  const read = (name: string): Buffer => readFileSync(join(folder, name));
  const server = createServer(
    { ...settings, cert: read("server.pem"), key: read("server.key") },
    (request, response) => {
      const path = new URL(request.url ?? "/", "https://localhost").pathname;
      const user = userOf(request, readsTokens);
      requests.push({ method: request.method ?? "", path, user });
      const status =
        user === null ? 401 : (refuse[path] ?? (user === "system:anonymous" && path !== "/version" ? 403 : 200));
      if (status !== 200) return refused(response, status, `User "${user ?? ""}" cannot get path "${path}"`);
      void answer({ request, response, path, configMaps, deployments, ready });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    files,
    requests,
    configMaps,
    deployments,
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns null for credentials that are wrong. */
function userOf(request: IncomingMessage, readsTokens: boolean): string | null {
  const socket = request.socket as TLSSocket;
  const { subject } = socket.getPeerCertificate();
  if (subject) return socket.authorized ? String(subject.CN) : null;
  const { authorization } = request.headers;
  if (authorization === undefined || !readsTokens) return "system:anonymous";
  return authorization === `Bearer ${TOKEN}` ? "system:serviceaccount:web:deployer" : null;
}

const json = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

const REASONS: Readonly<Record<number, string>> = { 401: "Unauthorized", 403: "Forbidden", 404: "NotFound" };

const refused = (response: ServerResponse, code: number, message: string): void =>
  json(response, code, { kind: "Status", apiVersion: "v1", status: "Failure", message, reason: REASONS[code], code });

const CONFIG_MAPS = {
  kind: "APIResourceList",
  groupVersion: "v1",
  resources: [
    {
      name: "configmaps",
      singularName: "configmap",
      namespaced: true,
      kind: "ConfigMap",
      verbs: ["create", "get", "list", "patch"],
      shortNames: ["cm"],
    },
  ],
};

const APPS_V1 = { groupVersion: "apps/v1", version: "v1" };
const DEPLOYMENTS = {
  ...{ kind: "APIResourceList", groupVersion: "apps/v1" },
  resources: [
    {
      ...{ name: "deployments", singularName: "deployment", namespaced: true, kind: "Deployment" },
      ...{ verbs: ["create", "get"], shortNames: ["deploy"] },
    },
  ],
};

const DISCOVERY: Readonly<Record<string, object>> = {
  "/version": { major: "1", minor: "32", gitVersion: "v1.32.0", platform: "linux/amd64" },
  "/api": { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] },
  "/apis": {
    ...{ kind: "APIGroupList", apiVersion: "v1" },
    groups: [{ name: "apps", versions: [APPS_V1], preferredVersion: APPS_V1 }],
  },
  "/apis/apps/v1": DEPLOYMENTS,
  "/api/v1": CONFIG_MAPS,
};

type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly configMaps: Map<string, Readonly<Record<string, string>>>;
  readonly deployments: Map<string, Deployment>;
  readonly ready: Map<string, number>;
};

async function answer(exchange: Exchange): Promise<void> {
  const { request, response, path, configMaps } = exchange;
  const known = DISCOVERY[path];
  if (known) return json(response, 200, known);
  const deployment = /^\/apis\/apps\/v1\/namespaces\/([^/]+)\/deployments(?:\/([^/]+))?$/.exec(path);
  if (deployment) return answerDeployment(exchange, deployment[1] ?? "", deployment[2]);
  const [, namespace, name] = /^\/api\/v1\/namespaces\/([^/]+)\/configmaps(?:\/([^/]+))?$/.exec(path) ?? [];
  if (namespace === undefined) return refused(response, 404, "the server could not find the requested resource");
  if (request.method === "POST") {
    const object = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString()) as {
      metadata: { name: string };
      data: Record<string, string>;
    };
    configMaps.set(`${namespace}/${object.metadata.name}`, object.data);
    return json(response, 201, object);
  }
  const data = configMaps.get(`${namespace}/${name}`);
  if (!data) return refused(response, 404, `configmaps "${name}" not found`);
  json(response, 200, { kind: "ConfigMap", apiVersion: "v1", metadata: { name, namespace }, data });
}

async function answerDeployment(
  { request, response, deployments, ready }: Exchange,
  namespace: string,
  name: string | undefined,
): Promise<void> {
  if (request.method === "POST") {
    const created = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString()) as Deployment;
    deployments.set(`${namespace}/${created.metadata.name}`, created);
    return json(response, 201, created);
  }
  const key = `${namespace}/${name}`;
  const found = deployments.get(key);
  if (!found) return refused(response, 404, `deployments.apps "${name}" not found`);
  const readyReplicas = ready.get(key) ?? 0;
  ready.set(key, Math.min(readyReplicas + 1, found.spec.replicas));
  json(response, 200, { ...found, status: { readyReplicas } });
}

/** A CA, a certificate of the server, and one of a client with its key, also encrypted. */
async function createFiles(folder: string): Promise<ClusterFiles> {
  const openssl = (...args: readonly string[]) => run("openssl", args, { cwd: folder });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  await openssl(
    "req",
    "-x509",
    ...newKey,
    "-days",
    "2",
    "-subj",
    "/CN=cluster-ca",
    "-keyout",
    "ca.key",
    "-out",
    "ca.pem",
  );
  const signed = async (name: string, subject: string, extension: string): Promise<void> => {
    await writeFile(join(folder, `${name}.ext`), extension);
    await openssl("req", ...newKey, "-subj", subject, "-keyout", `${name}.key`, "-out", `${name}.csr`);
    const by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", `${name}.ext`];
    await openssl("x509", "-req", "-in", `${name}.csr`, ...by, "-out", `${name}.pem`);
  };
  await signed("server", "/CN=localhost", "subjectAltName=DNS:localhost,IP:127.0.0.1");
  await signed("client", "/O=deployers/CN=ada", "extendedKeyUsage=clientAuth");
  const encrypted = ["-passout", `pass:${PASSPHRASE}`, "-out", "encrypted.key"];
  await openssl("pkcs8", "-topk8", "-v2", "aes256", "-in", "client.key", ...encrypted);
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  return {
    ca: read("ca.pem"),
    clientCertificate: read("client.pem"),
    clientKey: read("client.key"),
    encryptedClientKey: read("encrypted.key"),
  };
}
