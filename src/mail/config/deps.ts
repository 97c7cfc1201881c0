import type { Authorize } from "../../access/index.ts";
import type { Audit } from "../../audit/index.ts";
import type { Clock } from "../../core/clock.ts";
import type { NewId } from "../../core/ids.ts";
import type { HoldRootKey } from "../../identity/index.ts";
import type { Sealer } from "../../platform/crypto/seal.ts";
import type { Db } from "../../platform/db/db.ts";

export type ConfigDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly authorize: Authorize;
  readonly sealer: Sealer;
  readonly holdRootKey: HoldRootKey;
};
