/** The kubeconfig of a script: for the cluster of a connector, or for the one of the delegate's own identity. */
import type { KubernetesTarget } from "../../protocol/work/kubernetes.ts";
import {
  parseCertificates,
  parseClientKey,
  parseToken,
  type AccessText,
  type ClusterAccess,
} from "../../src/connectors/types/cluster-access.ts";
import { Unreached } from "../../src/platform/outgoing/unreached.ts";
import { UnusableInputError } from "../fault.ts";

export type ClusterSources = {
  /** Returns the secret with this index, and its label. */
  readonly secret: (nth: number) => { readonly label: string; readonly value: string };
  /** Undefined if the delegate has none. Throws Unreached. */
  readonly ownCluster: () => ClusterAccess | undefined;
};

/** A kubeconfig, and the values in it that the step's output must not show. */
export type Kubeconfig = { readonly text: string; readonly masks: readonly Buffer[] };

/**
 * Returns undefined if the target is the cluster of the delegate, which has none: not every step needs it.
 * @throws UnusableInputError if the credentials cannot be used
 */
export function createKubeconfig(target: KubernetesTarget, sources: ClusterSources): Kubeconfig | undefined {
  try {
    const access = target.cluster ? resolveAccess(target.cluster, sources) : sources.ownCluster();
    if (!access) return undefined;
    const { credential } = access;
    const secrets = credential.kind === "token" ? [credential.token] : [credential.key];
    return { text: textOf(access, target.namespace), masks: secrets.map((secret) => Buffer.from(secret)) };
  } catch (error) {
    if (error instanceof Unreached) throw new UnusableInputError(`The step's cluster cannot be used: ${error.message}`);
    throw error;
  }
}

function resolveAccess(
  { server, ca, credential }: NonNullable<KubernetesTarget["cluster"]>,
  { secret }: ClusterSources,
): ClusterAccess {
  const read = (nth: number): AccessText => {
    const { label, value } = secret(nth);
    return { source: `The secret [${label}]`, text: value };
  };
  const common = { server, ca: ca === null ? undefined : parseCertificates(read(ca)) };
  if (credential.kind === "token")
    return { ...common, credential: { kind: "token", token: parseToken(read(credential.token)) } };
  const { certificate, key, passphrase, algorithm } = credential;
  const pair = {
    certificate: read(certificate),
    key: read(key),
    passphrase: passphrase === null ? undefined : secret(passphrase).value,
    algorithm: algorithm ?? undefined,
  };
  return { ...common, credential: parseClientKey(pair) };
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** JSON, which is valid YAML. */
function textOf({ server, ca, credential }: ClusterAccess, namespace: string): string {
  const user =
    credential.kind === "token"
      ? { token: credential.token }
      : {
          "client-certificate-data": base64(credential.certificate),
          "client-key-data": base64(credential.key),
        };
  const cluster = { server, ...(ca === undefined ? {} : { "certificate-authority-data": base64(ca) }) };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "step",
    contexts: [{ name: "step", context: { cluster: "step", user: "step", namespace } }],
    clusters: [{ name: "step", cluster }],
    users: [{ name: "step", user }],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
