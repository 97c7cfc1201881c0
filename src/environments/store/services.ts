/** Services of all projects of an account, for GraphQL. */
import { within } from "../../access/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import { UNPREPARED } from "../../platform/db/pool/statements.ts";
import type { EntityOfProject } from "../entity.ts";

/** A service with the place of its project, which decides who may see it. */
export type ServiceNode = EntityOfProject & {
  readonly orgIdentifier: string;
  readonly projectIdentifier: string;
  readonly identifier: string;
};

const COLUMNS = `e.id, p.id as "projectId", e.org_identifier as "orgIdentifier", e.project_identifier as "projectIdentifier",
  e.identifier, e.name, e.description, e.tags, e.created_at as "createdAt"`;

/** Services of organizations and of the account belong to no application. */
const FROM = `from services e join projects p
  on p.account_id = e.account_id and p.org_identifier = e.org_identifier and p.identifier = e.project_identifier`;

const CONDITIONS = {
  applicationIn: "p.id = any (?::uuid[])",
  applicationNotIn: "p.id <> all (?::uuid[])",
  applicationLike: "exists (select from unnest(?::text[]) as part where strpos(lower(p.name), lower(part)) > 0)",
  serviceIn: "e.id = any (?::uuid[])",
  serviceNotIn: "e.id <> all (?::uuid[])",
  serviceLike: "exists (select from unnest(?::text[]) as part where strpos(lower(e.name), lower(part)) > 0)",
  applicationTagNamed: "p.tags ? ?::text",
  applicationTagIs: "p.tags @> ?::jsonb",
  serviceTagNamed: "e.tags ? ?::text",
  serviceTagIs: "e.tags @> ?::jsonb",
  named: "e.name = ?::text",
  never: "not ?::boolean",
  /** The services that the reader may see (`within`); the value is JSON. */
  seenBy: within("?", { org: "e.org_identifier", project: "e.project_identifier", identifier: "e.identifier" }),
} as const;

export type ServiceCondition = { readonly is: keyof typeof CONDITIONS; readonly value: unknown };

/** A question mark before `::` is a placeholder for the next value; other question marks are operators. */
function whereOf(accountId: Uuid, conditions: readonly ServiceCondition[]): { text: string; values: unknown[] } {
  const values: unknown[] = [accountId];
  const texts = conditions.map(({ is, value }) => CONDITIONS[is].replace(/\?(?=::)/, `$${values.push(value)}`));
  return { text: ["e.account_id = $1", ...texts].join(" and "), values };
}

type ServicePage = {
  readonly conditions: readonly ServiceCondition[];
  readonly window: { readonly limit: number; readonly offset: number };
};

/** Lists services by name. */
export function selectServices(
  db: Store,
  accountId: Uuid,
  { conditions, window }: ServicePage,
): Promise<ServiceNode[]> {
  const { text, values } = whereOf(accountId, conditions);
  const limited = `limit $${values.push(window.limit)} offset $${values.push(window.offset)}`;
  return db.query<ServiceNode>(
    `${UNPREPARED}select ${COLUMNS} ${FROM} where ${text} order by e.name, e.id ${limited}`,
    values,
  );
}

export async function countServices(
  db: Store,
  accountId: Uuid,
  conditions: readonly ServiceCondition[],
): Promise<number> {
  const { text, values } = whereOf(accountId, conditions);
  const rows = await db.query<{ total: number }>(`${UNPREPARED}select count(*) as total ${FROM} where ${text}`, values);
  return rows[0]?.total ?? 0;
}
