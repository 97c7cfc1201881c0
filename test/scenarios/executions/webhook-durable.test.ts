/** A webhook answered with 200 starts its execution once, even if the server is killed afterwards. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { createClient, type Client } from "../../support/clients/client.ts";
import { withEmbedded } from "../../support/processes/embedded-db.ts";
import { pipelineOf, step } from "../../support/clients/pipeline.ts";
import {
  createNotes,
  createServerFolder,
  readFacts,
  startServer,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";
import { until } from "../../support/until.ts";

let folder: ServerFolder;
let server: ServerProcess;
let client: Client;
let webhook: URL;

before(async () => {
  folder = await createServerFolder();
  await start();
  await client.makeProject();
  const script = `printf '%s\\n' "$CALL" >> ${createNotes(folder, "calls")}; echo "call $CALL"`;
  await client.makePipeline(pipelineOf("called", step("note", script, { env: { CALL: "<+trigger.payload.call>" } })));
  webhook = new URL(await client.makeWebhook("called"));
});

after(async () => {
  await server?.end("SIGTERM");
  await folder?.remove();
});

async function start(): Promise<void> {
  server = await startServer(folder);
  client = createClient(await readFacts(folder));
}

type Delivery = { readonly data: { readonly eventCorrelationId: string; readonly apiUrl: string } };

async function call(number: number): Promise<string> {
  const response = await fetch(new URL(`${webhook.pathname}${webhook.search}`, server.url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ call: number }),
  });
  assert.equal(response.status, 200);
  return ((await response.json()) as Delivery).data.apiUrl;
}

/** The address in the delivery belongs to the killed server. */
const fateOf = (apiUrl: string): Promise<string> => {
  const { pathname, search } = new URL(apiUrl);
  return client.executionOf(new URL(`${pathname}${search}`, server.url).href);
};

const calls = async (): Promise<readonly string[]> =>
  (await readFile(`${folder.exchange}/calls`, "utf8")).split("\n").filter(Boolean).toSorted();

test("the server is killed after the 200 and before the execution exists", async () => {
  let apiUrl = "";
  await withEmbedded(folder, async (db) => {
    await db.transaction(async (tx) => {
      // No execution can be created while this transaction is open.
      await tx.query("lock table execution_sequences in exclusive mode");
      apiUrl = await call(1);
      await until(
        async () => tx.query("select 1 from pg_locks where relation = 'execution_sequences'::regclass and not granted"),
        (waiting) => waiting.length === 1,
      );
      await server.kill();
    });
    assert.deepEqual(await db.query("select count(*) as n from executions"), [{ n: 0 }]);
  });
  await start();
  const id = await fateOf(apiUrl);
  assert.equal(await client.end(id), "SUCCESS");
  assert.equal(await client.log(id), "call 1\n");
  assert.deepEqual(await calls(), ["1"]);
});

test("the server is killed during many calls: each answered call runs once, no other call runs twice", async () => {
  const answered = new Map<number, string>();
  let next = 100;
  // Each caller continues until a call fails, so that the kill hits several calls.
  const caller = async (): Promise<never> => {
    for (let number = next++; ; number = next++) {
      answered.set(number, await call(number));
      if (answered.size === 10) await server.kill();
    }
  };
  await Promise.allSettled(Array.from({ length: 8 }, caller));
  assert.ok(answered.size >= 10, `${answered.size} calls were answered`);
  await start();
  const ids = await Promise.all([...answered.values()].map(fateOf));
  for (const id of ids) assert.equal(await client.end(id), "SUCCESS");
  assert.equal(new Set(ids).size, answered.size);
  const ran = (await calls()).filter((it) => it !== "1");
  assert.equal(new Set(ran).size, ran.length, "a call ran twice");
  assert.deepEqual(
    [...answered.keys()].filter((number) => !ran.includes(String(number))),
    [],
  );
});
