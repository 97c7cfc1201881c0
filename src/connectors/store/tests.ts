import type { Uuid } from "../../core/ids.ts";
import { readAuthor, type Author, type AuthorColumns } from "../../identity/index.ts";
import type { TestResult } from "../connection-tests/connection-test.ts";
import type { Store } from "../../platform/db/db.ts";

export type OpenTest = {
  readonly accountId: Uuid;
  readonly id: Uuid;
  readonly connectorId: Uuid;
  readonly connectorVersion: number;
  readonly selectors: readonly string[];
  readonly createdAt: number;
  readonly deadlineAt: number;
};

/** Returns false if a test of this version of the connector is running. */
export async function insertTest(db: Store, test: OpenTest, tester: Author): Promise<boolean> {
  const rows = await db.query(
    `insert into connection_tests (account_id, id, connector_id, connector_version, selectors, created_at, deadline_at,
                                   tester_kind, tester_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (account_id, connector_id, connector_version) where ended_at is null do nothing
     returning id`,
    [
      ...[test.accountId, test.id, test.connectorId, test.connectorVersion, test.selectors],
      ...[test.createdAt, test.deadlineAt, tester.kind, tester.id],
    ],
  );
  return rows.length > 0;
}

export async function findOpenTest(
  db: Store,
  accountId: Uuid,
  connector: { readonly id: Uuid; readonly version: number },
): Promise<Uuid | undefined> {
  const rows = await db.query<{ id: Uuid }>(
    `select id from connection_tests
      where account_id = $1 and connector_id = $2 and connector_version = $3 and ended_at is null`,
    [accountId, connector.id, connector.version],
  );
  return rows[0]?.id;
}

/** Returns connector and tester of a test. The tester is null for tests that an older server started. */
export async function findTester(
  db: Store,
  accountId: Uuid,
  id: Uuid,
): Promise<
  { readonly connector: { readonly id: Uuid; readonly version: number }; readonly tester: Author | null } | undefined
> {
  const rows = await db.query<AuthorColumns & { id: Uuid; version: number }>(
    `select connector_id as id, connector_version as version, tester_kind as "authorKind", tester_id as "authorId"
       from connection_tests where account_id = $1 and id = $2 and ended_at is null`,
    [accountId, id],
  );
  return rows.map(({ authorKind, authorId, ...connector }) => ({
    connector,
    tester: readAuthor({ authorKind, authorId }),
  }))[0];
}

/** Locks the test until the end of the transaction. */
export async function lockTest(
  db: Store,
  accountId: Uuid,
  id: Uuid,
): Promise<(OpenTest & { readonly endedAt: number | null }) | undefined> {
  const rows = await db.query<OpenTest & { endedAt: number | null }>(
    `select account_id as "accountId", id, connector_id as "connectorId", connector_version as "connectorVersion",
            selectors, created_at as "createdAt", deadline_at as "deadlineAt", ended_at as "endedAt"
       from connection_tests where account_id = $1 and id = $2 for update`,
    [accountId, id],
  );
  return rows[0];
}

export async function endTest(db: Store, test: OpenTest, result: TestResult): Promise<void> {
  await db.query(
    `update connection_tests set ended_at = $3, result = $4 where account_id = $1 and id = $2 and ended_at is null`,
    [test.accountId, test.id, result.testedAt, JSON.stringify(result)],
  );
}

/** Returns the results of the ended tests. */
export async function resultsOf(
  db: Store,
  tests: readonly { readonly accountId: Uuid; readonly id: Uuid }[],
): Promise<{ readonly id: Uuid; readonly result: TestResult }[]> {
  return db.query(
    `select t.id, t.result from unnest($1::uuid[], $2::uuid[]) as asked (account_id, id)
       join connection_tests t on t.account_id = asked.account_id and t.id = asked.id
      where t.ended_at is not null`,
    [tests.map(({ accountId }) => accountId), tests.map(({ id }) => id)],
  );
}

/** Overdue tests of all accounts, for the sweep. */
export async function findOverdue(db: Store, now: number): Promise<{ accountId: Uuid; id: Uuid }[]> {
  return db.query(
    `select account_id as "accountId", id from connection_tests where ended_at is null and deadline_at <= $1
      order by deadline_at, id limit 100`,
    [now],
  );
}

/** Tests of all accounts that ended before `before`; at most a thousand. */
export async function findEnded(db: Store, before: number): Promise<{ accountId: Uuid; id: Uuid }[]> {
  return db.query(
    `select account_id as "accountId", id from connection_tests where ended_at < $1 order by ended_at limit 1000`,
    [before],
  );
}

export async function deleteTests(db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<void> {
  await db.query(`delete from connection_tests where account_id = $1 and id = any($2)`, [accountId, ids]);
}
