/** The example of outputs, on a real server and its delegate. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Client } from "../../support/clients/client.ts";
import { startExampleServer, type ExampleServer } from "../../support/processes/example-server.ts";

let server: ExampleServer;
let client: Client;
before(async () => {
  server = await startExampleServer("outputs");
  ({ client } = server);
});
after(() => server?.stop());

test("steps read the outputs that others have exported, and a secret one is masked", async () => {
  const id = await client.run("outputs_of_steps");
  assert.equal(await client.end(id), "SUCCESS");
  const lines = (await client.log(id)).trim().split("\n");
  const token = lines.findIndex((line) => line.startsWith("token "));
  assert.match(lines[token] ?? "", /^token \*{14} of (?:1[5-9]|2[0-9]) characters$/);
  assert.deepEqual(lines.toSpliced(token, 1), ["built 1.4.2", "tested 1.4.2", "last report: unit-24.xml"]);
});
