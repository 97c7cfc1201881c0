/** Opens the secrets of a task for the delegate that leases it, and sends them before its work. */
import type { SecretUses } from "../../../protocol/work/secrets.ts";
import { Problem } from "../../core/problem.ts";
import { sendSecrets } from "../tasks/send-secrets.ts";
import type { ResolvedSecrets, SecretDelivery, StoredSecrets } from "../task.ts";
import { endOf, findLeaseOf, type Delivery } from "./kind.ts";

/** The secrets that were sent, in their order, and what the further ones of them are for. */
export type Delivered = { readonly uses: SecretUses } & Pick<ResolvedSecrets, "login" | "cluster">;

/** A step that logs in on a host or on a cluster. */
type LoginUse = Partial<Pick<SecretDelivery, "credential" | "cluster">>;

/**
 * Sends the secrets, and after them those of the login on a host or a cluster. If one is refused or cannot be opened,
 * the task ends for that reason. Rejects if the database fails or the program of a secret manager is overloaded.
 */
export async function deliverSecrets(
  delivery: Delivery,
  { home, uses: own }: StoredSecrets,
  { credential, cluster: clusterUse }: LoginUse = {},
): Promise<Delivered | "unsent" | "over"> {
  const { deps, to, run } = delivery;
  let uses = own;
  let found: Pick<ResolvedSecrets, "login" | "cluster">;
  try {
    if (!(await to.verifyEntitlement())) return "unsent";
    const lease = await findLeaseOf(delivery);
    if (!lease) return "over";
    // All secrets are opened before the first is sent: one refusal keeps the others on the server.
    const asked = { ...lease, home, uses, credential, cluster: clusterUse };
    const { secrets, confirm, login, cluster } = await deps.resolveSecrets(asked);
    found = { login, cluster };
    const ofLogin = (login?.takes ?? []).map(({ reference }) => ({ reference, as: "file" as const }));
    const ofCluster = (cluster?.takes ?? []).map(({ reference }) => ({ reference, as: "value" as const }));
    uses = [...uses, ...ofLogin, ...ofCluster];
    const takes = [...(login?.takes ?? []), ...(cluster?.takes ?? [])];
    const resolved = [...secrets, ...takes.map(({ secret }) => secret)];
    if (!(await sendSecrets({ to, order: run, uses, resolved, confirm }))) return "unsent";
  } catch (error) {
    if (!(error instanceof Problem) || error.code.startsWith("db.") || error.code === "secret.manager_busy")
      throw error;
    await to.endUnsentTask(run, endOf(error));
    return "over";
  }
  if (!to.isLeased(run)) return "over";
  return { uses: uses.map(({ reference, as }) => ({ label: reference, as })), ...found };
}
