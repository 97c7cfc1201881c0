/** The example of expressions, on a real server and its delegate. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import { createClient, type Client } from "../../support/clients/client.ts";
import { PROJECT, type PipelineDocument } from "../../support/clients/pipeline.ts";
import { databaseByAddress } from "../../support/database.ts";
import {
  createServerFolder,
  readFacts,
  startServer,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";

const EXAMPLE = new URL("../../../examples/expressions/pipeline.yaml", import.meta.url);

let folder: ServerFolder;
let database: Awaited<ReturnType<typeof databaseByAddress>>;
let server: ServerProcess;
let client: Client;

before(async () => {
  [folder, database] = await Promise.all([createServerFolder(), databaseByAddress("migrated")]);
  server = await startServer(folder, { DATABASE_URL: database.url });
  client = createClient(await readFacts(folder));
  await client.makeProject();
});

after(async () => {
  await server?.end("SIGTERM");
  await folder?.remove();
  await database?.drop();
});

/** `30 Nov 2026`, so many days after now. */
function dayAfter(days: number): string {
  const date = new Date(Date.now() + days * 86_400_000);
  const month = date.toLocaleString("en", { month: "short", timeZone: "UTC" });
  return `${date.getUTCDate()} ${month} ${date.getUTCFullYear()}`;
}

test("the example calculates, chooses, and reads JSON, XML and dates", async () => {
  const text = (await readFile(EXAMPLE, "utf8"))
    .replace("projectIdentifier: quickstart", `projectIdentifier: ${PROJECT}`)
    .replace("serviceRef: web_shop", "serviceRef: shop");
  await client.makePipeline(parse(text) as PipelineDocument);
  const days = [dayAfter(30)];
  const id = await client.run("use_expressions");
  assert.equal(await client.end(id), "SUCCESS");
  days.push(dayAfter(30));
  const [first, second, third, last = ""] = (await client.log(id)).trim().split("\n");
  assert.deepEqual([first, second, third], ["stable of main", "major 2 of 2.14.0", "web-1 ready, 26 digits 2"]);
  assert.ok(days.includes(last.replace("until ", "")), `${last} is none of ${days.join()}`);
});
