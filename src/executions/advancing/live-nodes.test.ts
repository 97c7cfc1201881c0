/** Nodes in memory: what replicas, rollbacks and lost connections leave of them (invariant 9). */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { createPipelines, startRun, statusesOf } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import {
  newIdentity,
  pretendDelegate,
  type Lease,
  type PretendDelegate,
} from "../../../test/support/pretend-delegate.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import type { NodeState, State } from "../../engine/index.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { findNodes, lockHeader, saveTransition, type RunKey } from "../store/advance.ts";
import { withChange } from "../recent-changes.ts";
import { createLiveExecutions, type LiveExecutions } from "./live-nodes.ts";

let platform: TestPlatform;
let run: RunKey;
/** Rows that were read from the table of nodes. */
let read = 0;
let counting: Db;

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(
    platform,
    { id: "one", steps: [{ id: "a", selectors: ["nowhere"] }] },
    { id: "six", steps: ["a", "b", "c", "d", "e", "f"].map((id) => ({ id })) },
  );
});
after(() => platform?.stop());

beforeEach(async () => {
  const [accountId, id] = [fromWire(platform.accountId), fromWire(await startRun(platform, "one"))];
  assert.ok(accountId && id);
  run = { accountId, id };
  read = 0;
  const counted = (tx: Tx): Tx => ({
    ...tx,
    query: async (text, values) => {
      const rows = await tx.query<never>(text, values);
      if (text.includes("from execution_nodes")) read += rows.length;
      return rows;
    },
  });
  counting = { ...platform.db, transaction: (work) => platform.db.transaction((tx) => work(counted(tx))) };
});

/** Gives the root a reason, as an event that changes one node; answers the reason that it had. */
async function change(live: LiveExecutions, message: string, how: { fail?: boolean; tx?: Tx } = {}): Promise<string> {
  const work = async (tx: Tx): Promise<string> => {
    const stored = await lockHeader(tx, run);
    assert.ok(stored);
    const nodes = await live.open(tx, run, stored);
    const node = nodes.get(await rootOf()) ?? assert.fail();
    const next: NodeState = { ...node, reason: { kind: "pause", message } };
    nodes.change(new Map([[node.id, next]]));
    const [state, revision] = [stored.header as State, stored.revision + 1];
    const timers = { started: [], stopped: [] };
    const changes = [{ node: next, before: node, kind: "pipeline" as const }];
    const recent = withChange(stored.recent ?? [], revision, [node.id]);
    await saveTransition(tx, run, { state, revision, recent, nodes: changes, timers, stageStates: undefined });
    tx.afterCommit(() => nodes.committed(revision, state));
    if (how.fail) throw new Error("planted");
    return node.reason?.message ?? "none";
  };
  return how.tx ? work(how.tx) : counting.transaction(work);
}

async function rootOf(): Promise<string> {
  const [row] = await platform.db.query<{ id: Uuid }>(
    "select id from execution_nodes where execution_id = $1 and parent_id is null",
    [run.id],
  );
  return row?.id ?? assert.fail();
}

const all = async (): Promise<number> => (await findNodes(platform.db, run, 0)).size;

test("nodes are read once, and then what another replica has changed", async () => {
  const [here, there] = [createLiveExecutions(), createLiveExecutions()];
  assert.equal(await change(here, "1"), "none");
  assert.equal(read, await all());
  read = 0;
  assert.equal(await change(here, "2"), "1");
  assert.equal(read, 0, "the replica alone reads none again");
  assert.equal(await change(there, "3"), "2");
  assert.equal(read, await all());
  for (let nth = 4; nth < 14; nth += 1) {
    read = 0;
    assert.equal(await change(nth % 2 === 0 ? here : there, String(nth)), String(nth - 1));
    assert.equal(read, 1, "only the root has changed");
  }
});

test("a rollback leaves nothing behind", async () => {
  const live = createLiveExecutions();
  await change(live, "1");
  await assert.rejects(change(live, "never", { fail: true }), /planted/);
  assert.equal(await change(live, "2"), "1");
});

test("a transaction that is killed leaves nothing behind, also when it had read what another replica has written", async () => {
  const [here, there] = [createLiveExecutions(), createLiveExecutions()];
  await change(here, "1");
  await change(there, "2");
  const killed = counting.transaction(async (tx) => {
    assert.equal(await change(here, "never", { tx }), "2");
    await tx.query("select pg_terminate_backend(pg_backend_pid())");
  });
  await assert.rejects(killed);
  assert.equal(await change(here, "3"), "2");
  assert.equal(await change(there, "4"), "3");
});

test("two events of one transaction see each other, and one rollback undoes both", async () => {
  const live = createLiveExecutions();
  await change(live, "1");
  const both = (fail: boolean): Promise<void> =>
    counting.transaction(async (tx) => {
      assert.equal(await change(live, "2", { tx }), "1");
      assert.equal(await change(live, "3", { tx }), "2");
      if (fail) throw new Error("planted");
    });
  await assert.rejects(both(true), /planted/);
  await both(false);
  assert.equal(await change(live, "4"), "3");
});

test("a commit that is told late does not turn back what came after it", async () => {
  const live = createLiveExecutions();
  await change(live, "1");
  const root = await rootOf();
  const held: (() => void)[] = [];
  await counting.transaction(async (tx) => {
    await change(live, "2", { tx: { ...tx, afterCommit: (work) => void held.push(work) } });
  });
  assert.equal(await change(live, "3"), "2");
  for (const tell of held) tell();
  read = 0;
  assert.equal(await change(live, "4"), "3");
  assert.equal(read, 0);
  assert.equal((await findNodes(platform.db, run, 0)).get(root)?.reason?.message, "4");
});

test("of a database that is behind what is known, all nodes are read: an older copy may have taken over", async () => {
  const live = createLiveExecutions();
  await change(live, "1");
  await change(live, "2");
  read = 0;
  await counting.transaction(async (tx) => {
    const stored = (await lockHeader(tx, run)) ?? assert.fail();
    await live.open(tx, run, { ...stored, revision: stored.revision - 1 });
  });
  assert.equal(read, await all());
});

test("without room nothing is kept, and everything works", async () => {
  const live = createLiveExecutions(0);
  for (const [nth, before] of ["none", "0", "1"].entries()) {
    read = 0;
    assert.equal(await change(live, String(nth)), before);
    assert.equal(read, await all());
  }
});

test("an execution whose delegate moves between two replicas at each step ends well", async () => {
  const replica = await platform.replica();
  const [token, identity] = [await platform.delegateToken(), newIdentity()];
  const connect = async (url: string, holds: Lease[]): Promise<PretendDelegate> => {
    const delegate = await pretendDelegate({ url, token, identity, slots: 1, holds });
    await delegate.next("welcome");
    return delegate;
  };
  const id = await startRun(platform, "six");
  let delegate = await connect(platform.url, []);
  for (let nth = 0; nth < 6; nth += 1) {
    const { task, epoch } = await delegate.next("run");
    await delegate.cut();
    delegate = await connect(nth % 2 === 0 ? replica.url : platform.url, [{ task, epoch }]);
    delegate.finish({ task, epoch });
    await delegate.next("finishedAck");
  }
  const steps = ["a", "b", "c", "d", "e", "f"];
  assert.equal(
    await statusesOf(platform, id, ...steps),
    ["Success", ...steps.map((step) => `${step}:Success`)].join(" "),
  );
  await delegate.close();
});
