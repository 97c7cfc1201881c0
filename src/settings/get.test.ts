/** Open transactions may wait for the value of a setting, so its read does not wait for one of their connections. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { after, before, test } from "node:test";
import { freshDatabase, type TestDatabase } from "../../test/support/database.ts";
import { handClock } from "../../test/support/platform.ts";
import { type Uuid } from "../core/ids.ts";
import { getSettingValue } from "./get.ts";

const CONNECTIONS = 4;

let database: TestDatabase;
before(async () => void (database = await freshDatabase({ max: CONNECTIONS })));
after(() => database?.drop());

for (const first of ["a transaction", "a request without one"])
  test(`transactions with all connections get the value of a setting that ${first} reads first`, async () => {
    const { db } = database;
    const valueOf = getSettingValue({ db, clock: handClock() });
    const accountId = randomUUIDv7() as Uuid;
    const read = (): Promise<string> => valueOf(accountId, "audit_retention_days");
    const isRead = Promise.withResolvers<void>();
    let begun = 0;
    const allBegun = Promise.withResolvers<void>();
    const open = Array.from({ length: CONNECTIONS }, () =>
      db.transaction(async (tx) => {
        await tx.query("select 1");
        begun += 1;
        if (begun === CONNECTIONS) allBegun.resolve();
        await isRead.promise;
        return read();
      }),
    );
    await allBegun.promise;
    const early = first === "a transaction" ? [] : [read()];
    isRead.resolve();
    const values = await Promise.all([...open, ...early]);
    assert.equal(new Set(values).size, 1);
  });
