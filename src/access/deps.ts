import type { Audit } from "../audit/index.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import type { RequireScope } from "./places.ts";
import type { Dereference } from "./references/dereference.ts";

/** What the operations need that change roles, resource groups, role assignments and user groups. */
export type WriteDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly requireScope: RequireScope;
  readonly dereference: Dereference;
  /** Called after a change of grants. */
  readonly invalidateGrants: (tx: Tx, accountId: Uuid) => void;
};
