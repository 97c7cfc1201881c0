/** Scripts: secrets in variables and files, and a login on the host of a remote step. */
import type { ShellTarget } from "../../../protocol/work/shell.ts";
import type { ResolvedLogin, StoredShellTask } from "../task.ts";
import { deliverSecrets } from "./deliver-secrets.ts";
import type { Delivery, Prepared, WorkKind } from "./kind.ts";

export const shell: WorkKind<StoredShellTask> = {
  outcome: "exited",
  prepare: (delivery, { secrets, target, ...script }) => {
    // Without its target, the script would run on the wrong machine.
    if (!secrets && target) throw new Error(`the task ${delivery.run.task} has a target and no secrets`);
    return secrets ? prepareWithSecrets(delivery, { ...script, secrets, target }) : { version: 1, ...script };
  },
};

type Work = Omit<StoredShellTask, "secrets" | "target"> & {
  readonly secrets: NonNullable<StoredShellTask["secrets"]>;
  readonly target: StoredShellTask["target"];
};

async function prepareWithSecrets(delivery: Delivery, { secrets, target, ...script }: Work): Promise<Prepared> {
  const delivered = await deliverSecrets(delivery, secrets, target?.credential);
  if (typeof delivered === "string") return delivered;
  const { uses, login } = delivered;
  if (target && !login) throw new Error(`the task ${delivery.run.task} has a target and no login`);
  const env = secrets.env.map(({ name, parts }) => ({ name, parts: [...parts] }));
  const remoteTarget = target && login && targetOf(target, login, secrets.uses.length);
  return { version: 1, ...script, secrets: { uses, env }, ...(remoteTarget && { target: remoteTarget }) };
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
