import { toWire, type Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import { linkRetry } from "../store/retries.ts";

/** Of two retries at once the second one gets `execution.retry_refused`. */
export async function claimRetry(
  db: Store,
  accountId: Uuid,
  retry: { readonly parentId: Uuid; readonly id: Uuid },
): Promise<void> {
  if (await linkRetry(db, accountId, retry)) return;
  throw problem("execution.retry_refused", [toWire(retry.parentId), "another execution has retried it just now"]);
}
