/** A transition is written by one statement, however many nodes begin in it (docs/architecture.md#invariants). */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pretendDelegate, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { addStagesPipeline, stageOf } from "../../../test/support/locks.ts";
import { createPipelines, startRun } from "../../../test/support/runs.ts";
import type { Tx } from "../../platform/db/db.ts";

const MANY = 40;
const WRITES = /(?:insert into|update|delete from)\s+(?:executions|execution_nodes|execution_timers)\b/;

let platform: TestPlatform;
let delegate: PretendDelegate;
let statements: string[] = [];

const recorded = (tx: Tx): Tx => ({
  ...tx,
  query: (text, values) => {
    statements.push(text);
    return tx.query(text, values);
  },
});

const script = (identifier: string): object => ({
  step: {
    ...{ type: "ShellScript", name: identifier, identifier },
    spec: { shell: "Bash", source: { type: "Inline", spec: { script: "true" } } },
  },
});

before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => ({ ...db, transaction: (work) => db.transaction((tx) => work(recorded(tx))) }),
  });
  await createPipelines(platform);
  const beside = Array.from({ length: MANY }, (_, n) => script(`b${n}`));
  for (const [id, next] of Object.entries({ few: script("b"), many: { parallel: beside } }))
    await addStagesPipeline(platform, { id, stages: [stageOf({ id: "s", steps: [script("a"), next] })] });
  delegate = await pretendDelegate({ url: platform.url, token: await platform.delegateToken(), slots: 2 * MANY });
  await delegate.next("welcome");
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});

for (const id of ["few", "many"])
  test(`the end of a step that begins ${id} others`, async () => {
    await startRun(platform, id);
    const first = await delegate.next("run");
    statements = [];
    delegate.finish(first);
    await delegate.next("finishedAck");
    const writes = statements.filter((text) => WRITES.test(text));
    assert.equal(writes.length, 1, writes.join("\n"));
    for (const table of ["executions", "execution_nodes", "execution_timers"])
      assert.match(writes[0] ?? "", new RegExp(table));
    assert.ok((await delegate.next("run")).task);
  });
