import type { Audit } from "../../audit/index.ts";
import type { Authorize, Dereference } from "../../access/index.ts";
import type { Clock } from "../../core/clock.ts";
import type { NewId } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import type { RequireScope } from "../../projects/index.ts";

export type EntityDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly dereference: Dereference;
  readonly requireScope: RequireScope;
  readonly clock: Clock;
  readonly newId: NewId;
};
