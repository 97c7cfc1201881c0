/** Opens the secrets of a task for the delegate that leases it, and sends them before its work. */
import type { SecretUses } from "../../../protocol/work/secrets.ts";
import { Problem } from "../../core/problem.ts";
import { sendSecrets } from "../tasks/send-secrets.ts";
import type { ResolvedLogin, StoredSecrets } from "../task.ts";
import { endOf, findLeaseOf, type Delivery } from "./kind.ts";

/** The secrets that were sent, in their order, and the login on the host of the task's credential. */
export type Delivered = { readonly uses: SecretUses; readonly login: ResolvedLogin | undefined };

/**
 * Sends the secrets, and after them those of the login. If one is refused or cannot be opened, the task ends for that
 * reason. Rejects if the database fails or the program of a secret manager is overloaded.
 * @param credential of a remote host
 */
export async function deliverSecrets(
  delivery: Delivery,
  { home, uses: own }: StoredSecrets,
  credential?: string,
): Promise<Delivered | "unsent" | "over"> {
  const { deps, to, run } = delivery;
  let uses = own;
  let login: ResolvedLogin | undefined;
  try {
    if (!(await to.verifyEntitlement())) return "unsent";
    const lease = await findLeaseOf(delivery);
    if (!lease) return "over";
    // All secrets are opened before the first is sent: one refusal keeps the others on the server.
    const { secrets, confirm, ...found } = await deps.resolveSecrets({ ...lease, home, uses, credential });
    login = found.login;
    const resolved = [...secrets];
    if (login) {
      uses = [...uses, ...login.takes.map(({ reference }) => ({ reference, as: "file" as const }))];
      resolved.push(...login.takes.map(({ secret }) => secret));
    }
    if (!(await sendSecrets({ to, order: run, uses, resolved, confirm }))) return "unsent";
  } catch (error) {
    if (!(error instanceof Problem) || error.code.startsWith("db.") || error.code === "secret.manager_busy")
      throw error;
    await to.endUnsentTask(run, endOf(error));
    return "over";
  }
  if (!to.isLeased(run)) return "over";
  return { uses: uses.map(({ reference, as }) => ({ label: reference, as })), login };
}
