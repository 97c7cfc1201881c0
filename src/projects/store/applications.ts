import { within, type Reach } from "../../access/index.ts";
import type { Uuid } from "../../core/ids.ts";
import { CREATOR, creatorJoins, creatorOf, type CreatorRow } from "../../identity/index.ts";
import type { QueryTuples, Store } from "../../platform/db/db.ts";
import type { Application } from "../project.ts";

type Row = Omit<Application, "createdBy"> & CreatorRow;

const applicationOf = (row: Row): Application => ({
  id: row.id,
  orgIdentifier: row.orgIdentifier,
  identifier: row.identifier,
  name: row.name,
  description: row.description,
  tags: row.tags,
  createdAt: row.createdAt,
  createdBy: creatorOf(row),
});

const APPLICATION = `p.id, p.org_identifier as "orgIdentifier", p.identifier, p.name, p.description, p.tags, p.created_at as "createdAt", ${CREATOR}
   from projects p ${creatorJoins("p")}`;

export async function findApplication(db: Store, accountId: Uuid, id: Uuid): Promise<Application | undefined> {
  const rows = await db.query<Row>(`select ${APPLICATION} where p.account_id = $1 and p.id = $2`, [accountId, id]);
  return rows.map(applicationOf)[0];
}

/** The applications with these ids, in any order. */
export async function findApplications(db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<Application[]> {
  const rows = await db.query<Row>(`select ${APPLICATION} where p.account_id = $1 and p.id = any ($2::uuid[])`, [
    accountId,
    ids,
  ]);
  return rows.map(applicationOf);
}

/** Projects of two organizations may share a name. The one in `default` precedes, then the oldest. */
export async function findApplicationByName(
  db: Store,
  accountId: Uuid,
  { name, reach }: { readonly name: string; readonly reach: Reached },
): Promise<Application | undefined> {
  const rows = await db.query<Row>(
    `select ${APPLICATION} where p.account_id = $1 and p.name = $2 and ($3::jsonb is null or ${seenBy("$3")})
      order by p.org_identifier <> 'default', p.id limit 1`,
    [accountId, name, reach === "all" ? null : JSON.stringify(reach)],
  );
  return rows.map(applicationOf)[0];
}

/** The condition for applications that the reader may see. */
type Reached = "all" | readonly Reach[];
const seenBy = (parameter: string): string =>
  within(parameter, { org: "p.org_identifier", project: "p.identifier", identifier: "p.identifier" });

type ApplicationPage = {
  readonly reach: Reached;
  readonly window: { readonly limit: number; readonly offset: number };
};

/** The list statement as text and values, so that the bare server of the benchmark can send the same statement. */
export const applicationsStatement = (
  accountId: Uuid,
  { reach, window: { limit, offset } }: ApplicationPage,
): { text: string; values: unknown[] } => ({
  text: `select ${APPLICATION} where p.account_id = $1${reach === "all" ? "" : ` and ${seenBy("$4")}`}
         order by p.name, p.id limit $2 offset $3`,
  values: [accountId, limit, offset, ...(reach === "all" ? [] : [JSON.stringify(reach)])],
});

export async function selectApplications(
  db: { readonly tuples: QueryTuples },
  accountId: Uuid,
  page: ApplicationPage,
): Promise<Application[]> {
  const { text, values } = applicationsStatement(accountId, page);
  const rows = await db.tuples<ApplicationTuple>(text, values);
  return rows.map(
    ([id, orgIdentifier, identifier, name, description, tags, createdAt, creatorId, creatorName, creatorEmail]) => ({
      ...{ id, orgIdentifier, identifier, name, description, tags, createdAt },
      createdBy: creatorOf({ creatorId, creatorName, creatorEmail }),
    }),
  );
}

/** The columns of `APPLICATION`, in their order. */
type ApplicationTuple = readonly [
  ...(readonly [
    id: Uuid,
    orgIdentifier: string,
    identifier: string,
    name: string,
    description: string,
    tags: Application["tags"],
    createdAt: number,
  ]),
  ...(readonly [creatorId: Uuid | null, creatorName: string, creatorEmail: string]),
];

/** Whether a project other than `except` has the name. */
export async function isNameTaken(
  db: Store,
  accountId: Uuid,
  { name, except }: { readonly name: string; readonly except: Uuid | null },
): Promise<boolean> {
  const rows = await db.query(
    `select 1 from projects where account_id = $1 and name = $2 and ($3::uuid is null or id <> $3) limit 1`,
    [accountId, name, except],
  );
  return rows.length > 0;
}

/** Locks a name until the end of the transaction, so that concurrent requests cannot use the same name. */
export async function lockName(db: Store, accountId: Uuid, name: string): Promise<void> {
  await db.query(
    `select pg_advisory_xact_lock(hashtextextended('railhead.application ' || $1::text || ' ' || $2, 0))`,
    [accountId, name],
  );
}
