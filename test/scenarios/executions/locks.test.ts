/** The example of locks, on a real server and its delegate. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Client } from "../../support/clients/client.ts";
import { startExampleServer, type ExampleServer } from "../../support/processes/example-server.ts";

let server: ExampleServer;
let client: Client;
before(async () => {
  server = await startExampleServer("locks");
  ({ client } = server);
});
after(() => server?.stop());

/** When a node began and ended. */
type Span = { readonly startTs: number; readonly endTs: number };

test("three executions at once migrate and deploy one after the other", async () => {
  const ids = await Promise.all([1, 2, 3].map(() => client.run("one_at_a_time")));
  assert.deepEqual(await Promise.all(ids.map((id) => client.end(id))), ["SUCCESS", "SUCCESS", "SUCCESS"]);
  for (const step of ["migrate_database", "roll_out"]) {
    const spans: Span[] = [];
    for (const id of ids) {
      const nodes = Object.values<Span & { readonly identifier: string }>(
        (await client.detail(id)).executionGraph.nodeMap,
      );
      spans.push(nodes.find(({ identifier }) => identifier === step) ?? assert.fail(step));
    }
    spans.sort((a, b) => a.startTs - b.startTs);
    for (const [nth, { startTs }] of spans.slice(1).entries())
      assert.ok(startTs >= (spans[nth]?.endTs ?? Infinity), `${step} runs twice at once`);
  }
});
