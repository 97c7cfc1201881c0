import type { Uuid } from "../../core/ids.ts";
import type { Referred } from "../../core/reference.ts";
import type { Store } from "../../platform/db/db.ts";
import type { KeepAdministrator } from "../administrators/keep-administrator.ts";
import type { WriteDeps } from "../deps.ts";

/** Finds a service account. The identity slice provides it. */
export type FindServiceAccount = (
  db: Store,
  accountId: Uuid,
  key: Referred,
) => Promise<{ readonly id: Uuid } | undefined>;

export type AssignmentDeps = Omit<WriteDeps, "dereference"> & {
  readonly keepAdministrator: KeepAdministrator;
  readonly findServiceAccount: FindServiceAccount;
};
