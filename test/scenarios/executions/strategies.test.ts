/** The examples of loops and of failures, on a real server and its delegate. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Client } from "../../support/clients/client.ts";
import { startExampleServer, type ExampleServer } from "../../support/processes/example-server.ts";
import { until } from "../../support/until.ts";

let server: ExampleServer;
let client: Client;
before(async () => {
  server = await startExampleServer("loops", "failures");
  ({ client } = server);
});
after(() => server?.stop());

const linesOf = async (id: string): Promise<readonly string[]> => (await client.log(id)).trim().split("\n");

test("shards run at once, waves one after the other, and a stage for each customer", async () => {
  const id = await client.run("waves_of_a_rollout");
  assert.equal(await client.end(id), "SUCCESS");
  const lines = await linesOf(id);
  assert.deepEqual(lines.slice(0, 3).toSorted(), ["shard 0 of 3", "shard 1 of 3", "shard 2 of 3"]);
  assert.deepEqual(lines.slice(3), [
    'wave 0 ["eu","us"]',
    'wave 1 ["asia"]',
    "mail 0 to acme",
    "mail 1 to acme",
    "mail 0 to initech",
    "mail 1 to initech",
  ]);
});

test("failures are ignored, counted as success, repeated, decided and rolled back", async () => {
  const id = await client.run("failures_of_a_release");
  const asked = await until(
    () => client.node(id, "smoke").catch(() => undefined),
    (node) => node?.status === "InterventionWaiting",
  );
  const path = `/pipeline/api/pipeline/execute/interrupt/${id}/${asked.uuid}?orgIdentifier=default&projectIdentifier=quickstart`;
  const decided = await client.send("PUT", `${path}&interruptType=MarkAsSuccess`);
  assert.equal(decided.status, 200, decided.text);
  assert.equal(await client.end(id), "FAILED");
  assert.deepEqual(await linesOf(id), [
    "no notes",
    "warming",
    "copying",
    "checking in run 0",
    "copying",
    "checking in run 1",
    "smoke",
    "routing",
    "routing back",
    "finishing",
    "restoring",
    "dropping the copy",
  ]);
});
