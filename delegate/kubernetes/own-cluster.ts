/**
 * The delegate's own identity in a Kubernetes cluster: the kubeconfig that KUBECONFIG names, otherwise the service
 * account of the pod that the delegate runs in. It is read for each use, because Kubernetes renews the token.
 */
import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { parseCertificates, parseToken, type ClusterAccess } from "../../src/connectors/types/cluster-access.ts";
import { Unreached } from "../../src/platform/outgoing/unreached.ts";
import { codeOf } from "../fault.ts";
import { readKubeconfig } from "./read-kubeconfig.ts";

type Env = Readonly<Record<string, string | undefined>>;

const POD_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

const noIdentity = (message: string): Unreached => new Unreached("No identity", message);

/**
 * Returns undefined without an identity.
 * @param folder of the pod's service account
 * @throws Unreached if the identity cannot be used
 */
export function readOwnCluster(env: Env = process.env, folder: string = POD_FOLDER): ClusterAccess | undefined {
  const path = env["KUBECONFIG"];
  return path !== undefined && path !== "" ? readNamedKubeconfig(path) : readServiceAccount(env, folder);
}

function readNamedKubeconfig(path: string): ClusterAccess {
  if (path.includes(":")) throw noIdentity("The delegate's KUBECONFIG names several files; name one.");
  if (!isAbsolute(path)) throw noIdentity("The delegate's KUBECONFIG is not an absolute path.");
  return readKubeconfig(readText(path, "The delegate's kubeconfig"), {
    read: (name, source) => ({ source, text: readText(join(isAbsolute(name) ? "/" : dirname(path), name), source) }),
  });
}

function readServiceAccount(env: Env, folder: string): ClusterAccess | undefined {
  const [host, port] = [env["KUBERNETES_SERVICE_HOST"] ?? "", env["KUBERNETES_SERVICE_PORT"] ?? "443"];
  if (host === "") return undefined;
  const read = (name: string, source: string) => ({ source, text: readText(join(folder, name), source) });
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    ca: parseCertificates(read("ca.crt", "The CA file of the delegate's pod")),
    credential: { kind: "token", token: parseToken(read("token", "The token file of the delegate's pod")) },
  };
}

/** The message names no path: users of the connector need not know the delegate's machine. */
function readText(path: string, source: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw noIdentity(`${source} cannot be read (${codeOf(error) ?? "unknown"}).`);
  }
}
