/** The cost of the sealing sweep does not grow with the trail: it uses an index and reads no sealed entry. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freshDatabase, type TestDatabase } from "../../../test/support/database.ts";
import type { Query } from "../../platform/db/db.ts";
import { sealEntries } from "./seal.ts";
import { lockPosition, nextEntries } from "../store/chain.ts";

const ENTRIES = 20_000;
let database: TestDatabase;

before(async () => {
  database = await freshDatabase();
  const { db } = database;
  await db.query("insert into accounts (id, name, key_check, created_at) values (uuidv7(), 'x', '', 0)");
  await db.query(
    `insert into audit_entries (account_id, id, at, actor_kind, actor_name, operation, resource_type, resource_id)
     select a.id, uuidv7(), 0, 'system', 'system', 'thing.make', 'THING', n::text from accounts a, generate_series(1, ${ENTRIES}) n`,
  );
  const seal = sealEntries({ db });
  for (let sealed = 0; sealed < ENTRIES;) sealed += await seal();
  await db.query("vacuum analyze audit_entries, audit_seals");
});
after(() => database?.drop());

type Plan = { readonly "Node Type": string; readonly "Actual Rows": number; readonly Plans?: readonly Plan[] };
type Explained = {
  readonly Plan: Plan & { readonly "Shared Hit Blocks": number; readonly "Shared Read Blocks": number };
};

/** Runs the work, explains the statement that it sends, and returns the plan. */
async function planOf(mode: "custom" | "generic", position: Parameters<typeof nextEntries>[1]): Promise<Explained> {
  let found: Explained | undefined;
  await database.db.transaction(async (tx) => {
    await tx.query(`set local plan_cache_mode = force_${mode}_plan`);
    await tx.query("set local jit = off");
    const explaining: Query = async (text, values) => {
      const rows = await tx.query<{ "QUERY PLAN": readonly [Explained] }>(
        `explain (analyze, buffers, format json) ${text}`,
        values,
      );
      found = rows[0]?.["QUERY PLAN"][0];
      return [];
    };
    await nextEntries({ ...tx, query: explaining }, position);
  });
  return found ?? assert.fail("no statement was sent");
}

const nodesOf = (plan: Plan): readonly string[] => [plan["Node Type"], ...(plan.Plans ?? []).flatMap(nodesOf)];

for (const mode of ["custom", "generic"] as const) {
  test(`an idle sweep reads a few pages of an index, for every size of the trail (${mode} plan)`, async () => {
    const position = await database.db.transaction(lockPosition);
    const { Plan: plan } = await planOf(mode, position ?? assert.fail());
    assert.equal(plan["Actual Rows"], 0);
    const nodes = nodesOf(plan);
    assert.ok(
      nodes.some((node) => node.startsWith("Index")),
      nodes.join(", "),
    );
    assert.ok(!nodes.includes("Seq Scan"), nodes.join(", "));
    const pages = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
    assert.ok(pages < 30, `${pages} pages were read`);
  });

  test(`a busy sweep reads its batch, and looks up the seals of that alone (${mode} plan)`, async () => {
    const { Plan: plan } = await planOf(mode, { xid: "0", id: "00000000-0000-0000-0000-000000000000" as never });
    assert.equal(plan["Actual Rows"], 1_000);
    assert.ok(!nodesOf(plan).includes("Seq Scan"), nodesOf(plan).join(", "));
  });
}
