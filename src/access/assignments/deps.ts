import type { Uuid } from "../../core/ids.ts";
import type { Referred } from "../../core/reference.ts";
import type { Query } from "../../platform/db/db.ts";
import type { KeepAdministrator } from "../administrators/keep-administrator.ts";
import type { WriteDeps } from "../deps.ts";

/** Finds a service account. The identity slice provides it. */
export type FindServiceAccount = (
  db: { readonly query: Query },
  accountId: Uuid,
  key: Referred,
) => Promise<{ readonly id: Uuid } | undefined>;

export type AssignmentDeps = Omit<WriteDeps, "dereference"> & {
  readonly keepAdministrator: KeepAdministrator;
  readonly findServiceAccount: FindServiceAccount;
};
