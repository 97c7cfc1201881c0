/** Connection tests: the work contains the values of the secrets, which are opened when it is sent. */
import { Problem } from "../../core/problem.ts";
import type { StoredConnectionTask } from "../task.ts";
import { endOf, findLeaseOf, type Delivery, type Prepared, type WorkKind } from "./kind.ts";

export const connection: WorkKind<StoredConnectionTask> = {
  outcome: "tested",
  prepare: (delivery, { home: _, secrets, ...test }) =>
    secrets.length === 0 ? { version: 1, ...test, secrets: [] } : prepareWithSecrets(delivery, test),
};

type Test = Omit<StoredConnectionTask, "home" | "secrets">;

async function prepareWithSecrets(delivery: Delivery, test: Test): Promise<Prepared> {
  const { deps, to, run } = delivery;
  if (!(await to.verifyEntitlement())) return "unsent";
  const lease = await findLeaseOf(delivery);
  if (!lease) return "over";
  try {
    const opened = await deps.openTestSecrets(lease);
    // The delegate's token may have been revoked while the secrets were opened, which can take seconds.
    if (!(await to.verifyEntitlement())) return "unsent";
    if (!to.isLeased(run)) return "over";
    return { version: 1, ...test, secrets: opened.map(({ reference, value }) => ({ reference, value })) };
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    await to.endUnsentTask(run, endOf(error));
    return "over";
  }
}
