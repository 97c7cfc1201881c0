/**
 * Sends a leased task to its delegate. dispatch.ts decides which delegate; send-secrets.ts sends the secrets before
 * the task.
 */
import type { ToDelegate } from "../../../protocol/messages.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import { Problem } from "../../core/problem.ts";
import { sendSecrets, type SendSecrets } from "./send-secrets.ts";
import type { Session } from "../session/sessions.ts";
import type { LeaseKey } from "../store/leases.ts";
import type {
  OpenTestSecrets,
  ResolvedLogin,
  ResolveSecrets,
  SecretDelivery,
  StoredConnectionTask,
  StoredShellTask,
  TaskEnd,
  Work,
} from "../task.ts";

type Run = Omit<Extract<ToDelegate, { kind: "run" }>, "work">;

/** A task for a delegate, with its secrets by name. */
type RunWork = Extract<ToDelegate, { kind: "run" }>["work"];
export type RunOrder = Run & { readonly work: Work };

/** The connection of the delegate that leases the task. */
export type Recipient = { readonly accountId: Uuid } & Pick<
  Session,
  "send" | "sendAndFlush" | "endUnsentTask" | "close" | "verifyEntitlement"
> & {
    /** Whether the delegate still leases the task. */
    readonly isLeased: (order: Pick<Run, "task">) => boolean;
  };

export const recipientOf = (session: Session): Recipient => ({
  accountId: session.delegate.accountId,
  send: session.send,
  sendAndFlush: session.sendAndFlush,
  endUnsentTask: session.endUnsentTask,
  close: session.close,
  verifyEntitlement: session.verifyEntitlement,
  isLeased: ({ task }) => {
    const id = fromWire(task);
    return id !== undefined && session.leasedTasks.has(id);
  },
});

/** The attempt of a task and the delegate that leases it; undefined if the lease of this epoch has ended. */
export type FindLease = (
  lease: LeaseKey,
) => Promise<Pick<SecretDelivery, "accountId" | "runId" | "nodeId" | "attempt" | "delegate"> | undefined>;

type Deps = {
  readonly openTestSecrets: OpenTestSecrets;
  readonly resolveSecrets: ResolveSecrets;
  readonly findLease: FindLease;
  readonly onError: (error: unknown) => void;
};

/**
 * Sends a task to the delegate that leases it; `onUnsent` is called when it was certainly not sent. A script without
 * secrets is sent at once. Secrets are opened for this delegate now, if its token is valid at this moment, and only
 * messages contain them. If one is refused or cannot be opened, the task ends for that reason. If the database fails
 * or the program of a secret manager is overloaded, the delegate reconnects and gets the task again.
 */
export const deliver =
  (deps: Deps) =>
  (to: Recipient, { work, ...order }: RunOrder, onUnsent?: () => void): void => {
    const send = (ready: RunWork): void => {
      if (!to.send({ ...order, work: ready })) onUnsent?.();
    };
    const failed = (error: unknown): void => {
      deps.onError(error);
      to.close();
    };
    // The task is no longer leased, so its secrets are not needed either.
    const drop = (): void => void to.send({ kind: "drop", task: order.task, epoch: order.epoch });
    if (work.kind === "connection")
      return void prepareConnectionTest(deps, to, { order, work })
        .then((outcome) => (outcome === "unsent" ? onUnsent?.() : outcome === "over" ? drop() : send(outcome)))
        .catch(failed);
    const { secrets, target, ...script } = work;
    // Without its target, the script would run on the wrong machine.
    if (!secrets && target) return failed(new Error(`the task ${order.task} has a target and no secrets`));
    if (!secrets) return send(script);
    deliverSecrets(deps, to, { order, secrets, target })
      .then((outcome) => {
        if (outcome === "unsent") onUnsent?.();
        else if (outcome === "over") drop();
        else send({ ...script, ...outcome });
      })
      .catch(failed);
  };

export type Deliver = ReturnType<typeof deliver>;

/** Finds the lease of the task; undefined if it has ended. */
async function findLeaseOf(
  { findLease }: Pick<Deps, "findLease">,
  { accountId }: Recipient,
  { task, epoch }: Run,
): ReturnType<FindLease> {
  const id = fromWire(task);
  return id && findLease({ accountId, id, epoch });
}

type Shell = Extract<RunWork, { kind: "shell" }>;

type SecretWork = {
  readonly order: Run;
  readonly secrets: NonNullable<StoredShellTask["secrets"]>;
  readonly target: StoredShellTask["target"];
};

async function deliverSecrets(
  deps: Pick<Deps, "resolveSecrets" | "findLease">,
  to: Recipient,
  { order, secrets, target }: SecretWork,
): Promise<"unsent" | "over" | Pick<Shell, "secrets" | "target">> {
  const { home, env } = secrets;
  let { uses } = secrets;
  let remoteTarget: Shell["target"];
  try {
    if (!(await to.verifyEntitlement())) return "unsent";
    const lease = await findLeaseOf(deps, to, order);
    if (!lease) return "over";
    // All secrets are opened before the first is sent: one refusal keeps the others on the server.
    const {
      secrets: found,
      login,
      confirm,
    } = await deps.resolveSecrets({ ...lease, home, uses, credential: target?.credential });
    const resolved = [...found];
    if (target && login) {
      remoteTarget = targetOf(target, login, uses.length);
      uses = [...uses, ...login.takes.map(({ reference }) => ({ reference, as: "file" as const }))];
      resolved.push(...login.takes.map(({ secret }) => secret));
    }
    const sending: SendSecrets = { to, order, uses, resolved, confirm };
    if (!(await sendSecrets(sending))) return "unsent";
  } catch (error) {
    if (!(error instanceof Problem) || error.code.startsWith("db.") || error.code === "secret.manager_busy")
      throw error;
    await to.endUnsentTask(order, endOf(error));
    return "over";
  }
  if (!to.isLeased(order)) return "over";
  const sent = {
    uses: uses.map(({ reference, as }) => ({ label: reference, as })),
    env: env.map(({ name, parts }) => ({ name, parts: [...parts] })),
  };
  return { secrets: sent, ...(remoteTarget && { target: remoteTarget }) };
}

/** The first secret of the login has the index `first` among the step's secrets. */
function targetOf(
  { host, workingDirectory }: NonNullable<StoredShellTask["target"]>,
  { port, userName, takes }: ResolvedLogin,
  first: number,
): NonNullable<Shell["target"]> {
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

/** The message names the secret and the reason, never its content. */
const endOf = ({ status, message }: Problem): TaskEnd => ({
  kind: "refused",
  type: status === 403 ? "Authorization" : "ConfigurationFailure",
  message,
});

async function prepareConnectionTest(
  deps: Pick<Deps, "openTestSecrets" | "findLease">,
  to: Recipient,
  { order, work }: { readonly order: Run; readonly work: StoredConnectionTask },
): Promise<"unsent" | "over" | RunWork> {
  const { home: _, secrets, ...rest } = work;
  if (secrets.length === 0) return { ...rest, secrets: [] };
  if (!(await to.verifyEntitlement())) return "unsent";
  const lease = await findLeaseOf(deps, to, order);
  if (!lease) return "over";
  try {
    const opened = await deps.openTestSecrets(lease);
    // The delegate's token may have been revoked while the secrets were opened, which can take seconds.
    if (!(await to.verifyEntitlement())) return "unsent";
    if (!to.isLeased(order)) return "over";
    return { ...rest, secrets: opened.map(({ reference, value }) => ({ reference, value })) };
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    await to.endUnsentTask(order, endOf(error));
    return "over";
  }
}
