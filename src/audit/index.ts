/** The audit trail: one entry for each change, written in the transaction of the change, and listed newest first. */
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { Db } from "../platform/db/db.ts";
import { exportAudits } from "./read/export.ts";
import { getAudit } from "./read/get.ts";
import { listAudits, type MayRead } from "./read/list.ts";
import type { Audit } from "./record.ts";
import { createRefusals } from "./refusals.ts";
import { auditRoutes } from "./rest.ts";
import { createRetention } from "./chain/retention.ts";
import { sealEntries } from "./chain/seal.ts";

export type { AuditedChange } from "./entry.ts";
export { createAudit, type Audit } from "./record.ts";
export { addAuditTypes } from "./graphql.ts";
export { entriesOf, lineOf } from "./read/export.ts";
export { sealEntries } from "./chain/seal.ts";
export type { DecreasedTime } from "./chain/times.ts";
export { verifyChain, type Verdict } from "./chain/verify.ts";

const ACCOUNT = { orgIdentifier: null, projectIdentifier: null } as const;

type TrailDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: MayRead;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly settingValue: (accountId: Uuid, setting: "audit_retention_days", at: typeof ACCOUNT) => Promise<string>;
  readonly onError: (error: unknown) => void;
};

/** The whole audit trail. Separate from `createAudit`, since a later slice checks the permission to read. */
export function createTrail(deps: TrailDeps) {
  const list = listAudits(deps);
  const refusals = createRefusals(deps);
  const seal = sealEntries(deps);
  const retention = createRetention({
    ...deps,
    retentionDays: async (accountId) => Number(await deps.settingValue(accountId, "audit_retention_days", ACCOUNT)),
  });
  return {
    list,
    now: deps.clock.now,
    routes: auditRoutes({ list, get: getAudit(deps), export: exportAudits(deps) }),
    /** Records a refused attempt. */
    recordRefused: refusals.record,
    /** Writes pending refusals, seals new entries, and removes entries beyond the retention. */
    async sweep(): Promise<void> {
      await refusals.flush();
      await seal();
      await retention.sweep();
    },
    /** Writes all pending refusals and ends counting. */
    stop: (): Promise<void> => refusals.flush("all").catch(deps.onError),
  };
}
