import type { Uuid } from "../../core/ids.ts";
import type { Window } from "../../core/page.ts";
import type { Place } from "../../core/reference.ts";
import type { Listed } from "../../access/index.ts";
import type { Store } from "../../platform/db/db.ts";
import { deleteFromScope } from "../../platform/db/removed-rows.ts";
import { orderBy, statementPrefix } from "../../platform/db/order.ts";
import type { RemovedReference, DeletedScope } from "../../platform/removed-reference.ts";
import { readAuthor, type AuthorColumns } from "../../identity/index.ts";
import type { ConnectionStatus, Connector, ConnectorKey, SavedBy } from "../connector.ts";

export const CONNECTOR = `id, org_identifier as "orgIdentifier", project_identifier as "projectIdentifier", identifier, name,
  description, tags, type, spec, status, coalesce(activity_at, updated_at) as "activityAt", version,
  created_at as "createdAt", updated_at as "updatedAt"`;

/** Returns false if the identifier is taken in the scope. */
export async function insertConnector(
  db: Store,
  accountId: Uuid,
  { connector, saved }: { readonly connector: Connector; readonly saved: SavedBy },
): Promise<boolean> {
  const rows = await db.query(
    `insert into connectors (account_id, id, org_identifier, project_identifier, identifier, name, description, tags,
                             type, spec, version, created_at, updated_at, activity_at,
                             author_kind, author_id, secret_ids)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
     on conflict (account_id, org_identifier, project_identifier, identifier) do nothing
     returning id`,
    [
      accountId,
      connector.id,
      connector.orgIdentifier,
      connector.projectIdentifier,
      connector.identifier,
      connector.name,
      connector.description,
      JSON.stringify(connector.tags),
      connector.type,
      JSON.stringify(connector.spec),
      connector.version,
      connector.createdAt,
      connector.updatedAt,
      connector.activityAt,
      saved.author?.kind ?? null,
      saved.author?.id ?? null,
      saved.secretIds && JSON.stringify(saved.secretIds),
    ],
  );
  return rows.length > 0;
}

// `is not distinct from` uses no index, but account and identifier leave a handful of rows.
const KEY = `account_id = $1 and identifier = $2 and org_identifier is not distinct from $3
  and project_identifier is not distinct from $4`;
const keyValues = (accountId: Uuid, key: ConnectorKey) => [
  accountId,
  key.identifier,
  key.orgIdentifier,
  key.projectIdentifier,
];

/**
 * Row locks until the end of the transaction. `change` excludes other changes. `deletion` also excludes new references:
 * transactions that record one (`createReferences`) have ended or wait. A weaker lock would not block them.
 */
const LOCKS = { change: "for no key update", deletion: "for update" } as const;

export async function findConnector(
  db: Store,
  accountId: Uuid,
  key: ConnectorKey,
  lock?: keyof typeof LOCKS,
): Promise<Connector | undefined> {
  const rows = await db.query<Connector>(
    `select ${CONNECTOR} from connectors where ${KEY} ${lock ? LOCKS[lock] : ""}`,
    keyValues(accountId, key),
  );
  return rows[0];
}

export type ConnectorChanges = Pick<Connector, "name" | "description" | "tags" | "type" | "spec">;

/** Returns undefined if no connector of this type exists, or if it has another version than expected. */
export async function updateConnectorRow(
  db: Store,
  accountId: Uuid,
  change: {
    /** Key and type name the connector. */
    readonly to: ConnectorKey & ConnectorChanges;
    readonly saved: SavedBy;
    readonly version: number | undefined;
    readonly at: number;
  },
): Promise<Connector | undefined> {
  const { to, saved, version, at } = change;
  const rows = await db.query<Connector>(
    `update connectors set name = $5, description = $6, tags = $7, spec = $8, version = version + 1, updated_at = $9,
            activity_at = $9, author_kind = $12, author_id = $13, secret_ids = $14, status = case when spec = $8::jsonb then status end
      where ${KEY} and type = $10 and ($11::int is null or version = $11)
     returning ${CONNECTOR}`,
    [
      ...keyValues(accountId, to),
      to.name,
      to.description,
      JSON.stringify(to.tags),
      JSON.stringify(to.spec),
      at,
      to.type,
      version ?? null,
      saved.author?.kind ?? null,
      saved.author?.id ?? null,
      saved.secretIds && JSON.stringify(saved.secretIds),
    ],
  );
  return rows[0];
}

/**
 * Returns the connector with the author and the secrets of its last save; undefined if it has another version. Without
 * a version, every one is accepted.
 */
export async function findSavedConnector(
  db: Store,
  accountId: Uuid,
  { id, version }: Pick<Connector, "id"> & { readonly version?: number },
): Promise<(Connector & SavedBy) | undefined> {
  const rows = await db.query<Connector & AuthorColumns & Pick<SavedBy, "secretIds">>(
    `select ${CONNECTOR}, author_kind as "authorKind", author_id as "authorId", secret_ids as "secretIds"
       from connectors where account_id = $1 and id = $2 and ($3::int is null or version = $3)`,
    [accountId, id, version ?? null],
  );
  return rows.map(({ authorKind, authorId, ...row }) => ({ ...row, author: readAuthor({ authorKind, authorId }) }))[0];
}

export async function deleteConnectorRow(db: Store, accountId: Uuid, id: Uuid): Promise<void> {
  await db.query(`delete from connectors where account_id = $1 and id = $2`, [accountId, id]);
}

export const deleteConnectorsOf = (db: Store, scope: DeletedScope): Promise<readonly RemovedReference[]> =>
  deleteFromScope(db, scope, { type: "CONNECTOR", table: "connectors" });

/**
 * Conditions of a list; undefined is no condition. `searchTerm` and `description` match substrings, case-insensitively.
 */
export type ConnectorFilter = {
  readonly searchTerm?: string | undefined;
  readonly names?: readonly string[] | undefined;
  readonly identifiers?: readonly string[] | undefined;
  readonly description?: string | undefined;
  readonly types?: readonly string[] | undefined;
  /** Whether the spec contains a part, as JSON contains JSON. */
  readonly spec?: { readonly part: object; readonly isContained: boolean } | undefined;
  /** UNKNOWN means not tested yet. */
  readonly connectivity?: readonly string[] | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
};

/** A place, and the identifiers that may be shown; null for all. */
export type ShownPlace = Place & { readonly shown: Listed };

/** The connectors of the places that match the filter. */
export type ConnectorSelection = {
  readonly accountId: Uuid;
  readonly places: readonly ShownPlace[];
  readonly filter: ConnectorFilter;
};

/** Lists connectors by name unless the window has another order. */
export async function selectConnectors(db: Store, selection: ConnectorSelection, window: Window): Promise<Connector[]> {
  const { text, values } = conditionOf(selection);
  return db.query<Connector>(
    `${statementPrefix(window.order)}select ${CONNECTOR} from connectors where ${text} order by ${orderBy(window.order, "name")}
      limit $${values.length + 1} offset $${values.length + 2}`,
    [...values, window.limit, window.offset],
  );
}

export async function selectConnectorCounts(db: Store, selection: ConnectorSelection): Promise<number> {
  const { text, values } = conditionOf(selection);
  const rows = await db.query<{ total: number }>(`select count(*) as total from connectors where ${text}`, values);
  return rows[0]?.total ?? 0;
}

function conditionOf({ accountId, places, filter }: ConnectorSelection) {
  const values: unknown[] = [accountId];
  const next = (value: unknown): string => `$${values.push(value)}`;
  const is = (column: string, value: string | null): string =>
    value === null ? `${column} is null` : `${column} = ${next(value)}`;
  const parts = [
    "account_id = $1",
    `(${places
      .map(
        (at) =>
          `(${is("org_identifier", at.orgIdentifier)} and ${is("project_identifier", at.projectIdentifier)}${
            at.shown === null ? "" : ` and identifier = any(${next(at.shown)}::text[])`
          })`,
      )
      .join(" or ")})`,
  ];
  // `strpos` instead of `like`, so that no character of the text is a wildcard.
  const has = (column: string, part: string): string => `strpos(lower(${column}), lower(${part})) > 0`;
  if (filter.searchTerm !== undefined) {
    const term = next(filter.searchTerm);
    parts.push(`(${has("name", term)} or ${has("identifier", term)})`);
  }
  if (filter.description !== undefined) parts.push(has("description", next(filter.description)));
  const oneOf = (column: string, list: readonly string[] | undefined): void => {
    if (list !== undefined) parts.push(`${column} = any(${next(list)}::text[])`);
  };
  oneOf("name", filter.names);
  oneOf("identifier", filter.identifiers);
  oneOf("type", filter.types);
  oneOf("coalesce(status ->> 'status', 'UNKNOWN')", filter.connectivity);
  if (filter.spec !== undefined)
    parts.push(`(spec @> ${next(JSON.stringify(filter.spec.part))}::jsonb) = ${next(filter.spec.isContained)}`);
  if (filter.tags !== undefined) parts.push(`tags @> ${next(JSON.stringify(filter.tags))}::jsonb`);
  return { text: parts.join(" and "), values };
}

/** Saves the result of a test. Does nothing if the connector has changed since the test. */
export async function saveStatus(
  db: Store,
  tested: { readonly accountId: Uuid; readonly id: Uuid; readonly version: number },
  status: Omit<ConnectionStatus, "connectedAt">,
): Promise<void> {
  await db.query(
    `update connectors set activity_at = $4, status = $5::jsonb || jsonb_build_object('connectedAt',
            case when $6 then to_jsonb($4::bigint) else coalesce(status -> 'connectedAt', 'null') end)
      where account_id = $1 and id = $2 and version = $3`,
    [tested.accountId, tested.id, tested.version, status.testedAt, JSON.stringify(status), status.status === "SUCCESS"],
  );
}
