/** Who did what: one row for each change, written in the transaction of the change itself, and read newest first. */
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { Db } from "../platform/db/db.ts";
import { exportAudits } from "./export.ts";
import { getAudit } from "./get.ts";
import { listAudits, type MayRead } from "./list.ts";
import type { Audit } from "./record.ts";
import { createRefusals } from "./refusals.ts";
import { auditRoutes } from "./rest.ts";
import { createRetention } from "./retention.ts";
import { sealEntries } from "./seal.ts";

export type { AuditedChange } from "./entry.ts";
export { createAudit, type Audit } from "./record.ts";
export { addAuditTypes } from "./graphql.ts";
export { entriesOf, lineOf } from "./export.ts";
export { sealEntries } from "./seal.ts";
export type { RunBack } from "./times.ts";
export { verifyChain, type Verdict } from "./verify.ts";

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

/** The trail as a whole. Apart from `createAudit`, since who may read is known only to what stands above. */
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
    /** Takes note of a refused attempt. */
    refused: refusals.note,
    /** Writes what was refused, puts what is there into the chains, takes away what is too old. */
    async sweep(): Promise<void> {
      await refusals.flush();
      await seal();
      await retention.sweep();
    },
    /** What was refused until now is written; nobody counts on. */
    stop: (): Promise<void> => refusals.flush("all").catch(deps.onError),
  };
}
