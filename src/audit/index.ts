/** Who did what: one row for each change, written in the transaction of the change itself, and read newest first. */
import type { Clock } from "../core/clock.ts";
import type { Db } from "../platform/db/db.ts";
import { makeListAudits, type MayRead } from "./list.ts";
import { auditRoutes } from "./rest.ts";

export { makeAudit, type Audit } from "./record.ts";
export { addAuditTypes } from "./graphql.ts";
export { entriesOf, lineOf } from "./export.ts";

/** Reading the trail. Apart from `makeAudit`, since who may read is known only to what stands above. */
export function makeTrail(deps: { db: Db; authorize: MayRead; clock: Clock }) {
  const list = makeListAudits(deps);
  return { list, now: deps.clock.now, routes: auditRoutes({ list }) };
}
