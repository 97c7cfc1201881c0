/** The example of the flow of a pipeline, on a real server and its delegate. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Client } from "../../support/clients/client.ts";
import { startExampleServer, type ExampleServer } from "../../support/processes/example-server.ts";

let server: ExampleServer;
let client: Client;
before(async () => {
  server = await startExampleServer("flow");
  ({ client } = server);
});
after(() => server?.stop());

test("the example runs in parallel, repeats, retries, skips, rolls back and tells of the failure", async () => {
  const id = await client.run("flow_of_a_release");
  assert.equal(await client.end(id), "FAILED");
  const lines = (await client.log(id)).trim().split("\n");
  assert.deepEqual(lines.slice(0, 6).toSorted(), [
    "lint in checks",
    "smoke try 0",
    "smoke try 1",
    "unit 22 glibc",
    "unit 24 glibc",
    "unit 24 musl",
  ]);
  assert.deepEqual(lines.slice(6), [
    "report SUCCEEDED SKIPPED",
    "roll out",
    "roll back after FAILED",
    "the release has failed in Deploy",
  ]);
});
