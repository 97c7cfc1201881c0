/** What people see of the deliveries of a trigger. */
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import type { ListedDelivery, StoredDelivery } from "../deliveries/delivery.ts";

type OfTrigger = { readonly accountId: Uuid; readonly triggerId: Uuid };

/** The size of a stored text does not have to be read with the text. */
const LISTED = `id, correlation_id as "correlationId", received_at as "receivedAt", processed_at as "processedAt", status,
  message, execution_id as "executionId", octet_length(payload) as "payloadBytes", replay_of as "replayOf"`;

/** The newest first, before the given one. */
export const selectDeliveries = (
  db: Store,
  { accountId, triggerId }: OfTrigger,
  { before, limit }: { readonly before?: Uuid | undefined; readonly limit: number },
): Promise<ListedDelivery[]> =>
  db.query<ListedDelivery>(
    `select ${LISTED} from webhook_deliveries
      where account_id = $1 and trigger_id = $2 and ($3::uuid is null or id < $3)
      order by id desc limit $4`,
    [accountId, triggerId, before ?? null, limit],
  );

/** Those of the ids that are stored, in any order. */
export const selectDeliveriesById = (
  db: Store,
  { accountId, triggerId }: OfTrigger,
  ids: readonly Uuid[],
): Promise<ListedDelivery[]> =>
  db.query<ListedDelivery>(
    `select ${LISTED} from webhook_deliveries where account_id = $1 and id = any ($3::uuid[]) and trigger_id = $2`,
    [accountId, triggerId, ids],
  );

/** `mostCharacters` of the payload. */
export async function selectStoredDelivery(
  db: Store,
  { accountId, triggerId }: OfTrigger,
  { correlationId, mostCharacters }: { readonly correlationId: string; readonly mostCharacters: number },
): Promise<StoredDelivery | undefined> {
  const rows = await db.query<StoredDelivery>(
    `select ${LISTED}, headers, left(payload, $4) as payload, length(payload) <= $4 as "isPayloadComplete"
       from webhook_deliveries where account_id = $1 and correlation_id = $3 and trigger_id = $2`,
    [accountId, triggerId, correlationId, mostCharacters],
  );
  return rows[0];
}
