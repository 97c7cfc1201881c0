import type { Uuid } from "../../core/ids.ts";
import { commonProblem } from "../../core/problems.ts";
import type { Referred } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { Kind } from "../entity.ts";
import { problem } from "../problems.ts";
import { findEntity } from "../store/entities.ts";

/** Returns the problem of a statement that changed no row: `<noun>.not_found` or `core.stale_version`. */
export async function explainMissedRow(
  tx: Tx,
  accountId: Uuid,
  { kind, key, version }: { readonly kind: Kind; readonly key: Referred; readonly version: number | undefined },
): Promise<Error> {
  const there = await findEntity(tx, accountId, { kind, key });
  if (!there) return problem(`${kind.noun}.not_found`, [key.identifier]);
  return commonProblem("core.stale_version", [kind.title, key.identifier, `${there.version}`, `${version}`]);
}
