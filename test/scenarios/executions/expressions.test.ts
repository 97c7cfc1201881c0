/** The example of expressions, on a real server and its delegate. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Client } from "../../support/clients/client.ts";
import { startExampleServer, type ExampleServer } from "../../support/processes/example-server.ts";

let server: ExampleServer;
let client: Client;
before(async () => {
  server = await startExampleServer("expressions");
  ({ client } = server);
});
after(() => server?.stop());

/** `30 Nov 2026`, so many days after now. */
function dayAfter(days: number): string {
  const date = new Date(Date.now() + days * 86_400_000);
  const month = date.toLocaleString("en", { month: "short", timeZone: "UTC" });
  return `${date.getUTCDate()} ${month} ${date.getUTCFullYear()}`;
}

test("the example calculates, chooses, and reads JSON, XML and dates", async () => {
  const days = [dayAfter(30)];
  const id = await client.run("use_expressions");
  assert.equal(await client.end(id), "SUCCESS");
  days.push(dayAfter(30));
  const [first, second, third, last = ""] = (await client.log(id)).trim().split("\n");
  assert.deepEqual([first, second, third], ["stable of main", "major 2 of 2.14.0", "web-1 ready, 26 digits 2"]);
  assert.ok(days.includes(last.replace("until ", "")), `${last} is none of ${days.join()}`);
});
