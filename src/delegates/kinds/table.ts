/** The kinds of work that need more than `other`. A new kind of work needs no entry if `other` fits it. */
import type { StoredSecrets, Work } from "../task.ts";
import { connection } from "./connection.ts";
import { deliverSecrets } from "./deliver-secrets.ts";
import type { Delivery, Prepared, WorkKind } from "./kind.ts";
import { shell } from "./shell.ts";

/** Opaque work: its member `secrets` names the secrets, which are sent before it, and it refers to them by index. */
const other: WorkKind<Work & { readonly secrets?: StoredSecrets }> = {
  outcome: "completed",
  prepare: (delivery, work) => {
    const { secrets, version = 1, ...rest } = work;
    return secrets
      ? prepareWithSecrets(delivery, { ...rest, version }, secrets)
      : { ...rest, kind: work.kind, version };
  },
};

async function prepareWithSecrets(
  delivery: Delivery,
  work: Work & { readonly version: number },
  secrets: StoredSecrets,
): Promise<Prepared> {
  const delivered = await deliverSecrets(delivery, secrets);
  return typeof delivered === "string" ? delivered : { ...work, secrets: { uses: delivered.uses } };
}

const table: Readonly<Record<string, WorkKind<never>>> = { shell, connection };

/** Stored work has the type of its kind: the slice that enqueued it made it so. */
export const kindOf = (kind: string): WorkKind =>
  ((Object.hasOwn(table, kind) ? table[kind] : undefined) ?? other) as WorkKind;
