/** Scripts: secrets in variables and files, and a login on the host of a remote step. */
import type { KubernetesTarget } from "../../../protocol/work/kubernetes.ts";
import type { ShellTarget } from "../../../protocol/work/shell.ts";
import type { ResolvedCluster } from "../../connectors/index.ts";
import type { ResolvedLogin, StoredShellTask } from "../task.ts";
import { deliverSecrets } from "./deliver-secrets.ts";
import type { Delivery, Prepared, WorkKind } from "./kind.ts";

export const shell: WorkKind<StoredShellTask> = {
  outcome: "exited",
  prepare: (delivery, { secrets, ...work }) => {
    // Without its target or its cluster, the script would run on the wrong one.
    if (!secrets && (work.target || work.kubernetes))
      throw new Error(`the task ${delivery.run.task} has a target or a cluster and no secrets`);
    return secrets ? prepareWithSecrets(delivery, { ...work, secrets }) : { version: 1, ...work };
  },
};

type Work = StoredShellTask & { readonly secrets: NonNullable<StoredShellTask["secrets"]> };

async function prepareWithSecrets(
  delivery: Delivery,
  { secrets, target, kubernetes, ...script }: Work,
): Promise<Prepared> {
  const delivered = await deliverSecrets(delivery, secrets, { credential: target?.credential, cluster: kubernetes });
  if (typeof delivered === "string") return delivered;
  const { uses, login, cluster } = delivered;
  if (kubernetes && !cluster) throw new Error(`the task ${delivery.run.task} has a cluster without access`);
  if (target && !login) throw new Error(`the task ${delivery.run.task} has a target and no login`);
  const env = secrets.env.map(({ name, parts }) => ({ name, parts: [...parts] }));
  const remoteTarget = target && login && targetOf(target, login, secrets.uses.length);
  return {
    ...{ version: 1, ...script, secrets: { uses, env } },
    ...(remoteTarget && { target: remoteTarget }),
    ...(kubernetes && cluster && { kubernetes: clusterOf(kubernetes.namespace, cluster, secrets.uses.length) }),
  };
}

/** The first secret of the cluster has the index `first` among the step's secrets. */
function clusterOf(namespace: string, { access, takes }: ResolvedCluster, first: number): KubernetesTarget {
  if (!access) return { namespace, cluster: null };
  const at = (role: ResolvedCluster["takes"][number]["role"]): number | null => {
    const index = takes.findIndex((one) => one.role === role);
    return index < 0 ? null : first + index;
  };
  const { server, algorithm } = access;
  const [token, certificate, key] = [at("token"), at("certificate"), at("key")];
  if (token !== null) return { namespace, cluster: { server, ca: at("ca"), credential: { kind: "token", token } } };
  if (certificate === null || key === null) throw new Error(`a cluster at ${server} has no credentials`);
  const credential = { kind: "certificate", certificate, key, passphrase: at("passphrase"), algorithm } as const;
  return { namespace, cluster: { server, ca: at("ca"), credential } };
}

/** The first secret of the login has the index `first` among the step's secrets. */
function targetOf(
  { host, workingDirectory }: NonNullable<StoredShellTask["target"]>,
  { port, userName, takes }: ResolvedLogin,
  first: number,
): ShellTarget {
  const at = (role: ResolvedLogin["takes"][number]["role"]): number | undefined => {
    const index = takes.findIndex((one) => one.role === role);
    return index < 0 ? undefined : first + index;
  };
  const [password, key] = [at("password"), at("key")];
  const common = { host, port, userName, workingDirectory: workingDirectory ?? null };
  if (password !== undefined) return { ...common, auth: { kind: "password", password } };
  if (key === undefined) throw new Error(`a login on ${host} takes neither a password nor a key`);
  return { ...common, auth: { kind: "key", key, passphrase: at("passphrase") ?? null } };
}
