import type { Actor } from "../../core/actor.ts";
import { commonProblem } from "../../core/problems.ts";
import type { Referred } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { Kind } from "../entity.ts";
import { problem } from "../problems.ts";
import { findEntity } from "../store/entities.ts";

/** Returns the problem of a statement that changed no row: `<noun>.not_found` or `core.stale_version`. */
export async function explainMissedRow(
  tx: Tx,
  kind: Kind,
  actor: Actor,
  key: Referred,
  version: number | undefined,
): Promise<Error> {
  const there = await findEntity(tx, kind, actor.accountId, key);
  if (!there) return problem(`${kind.noun}.not_found`, [key.identifier]);
  return commonProblem("core.stale_version", [kind.title, key.identifier, `${there.version}`, `${version}`]);
}
