/**
 * Runs every curl command of test/contract/curl-requests.md in a shell against a server process and compares the whole
 * response with the page. Of two servers, one uses the prefix `/gateway` of the page, the other the paths without it.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { createClient } from "../support/clients/client.ts";
import { createServerFolder, readFacts, startServer, type ServerFolder } from "../support/processes/server-process.ts";
import { examplesOf, fillIn, checkExample, readPage, type Example, type KnownValues } from "./curl-examples.ts";

const skip = spawnSync("curl", ["--version"]).error ? "curl is not installed" : false;

const examples = examplesOf(readPage());
const asked = new Set<string>();

type Reader = {
  readonly known: KnownValues;
  readonly folder: ServerFolder;
  readonly command: (example: Example) => string;
  readonly end: () => Promise<unknown>;
};
const readers: Reader[] = [];

async function start(command: Reader["command"]): Promise<void> {
  const folder = await createServerFolder();
  const server = await startServer(folder).catch(async (error: unknown) => {
    await folder.remove();
    throw error;
  });
  const { baseUrl, accountId, apiKey } = await readFacts(folder);
  const known: KnownValues = { BASE_URL: baseUrl, ACCOUNT_ID: accountId, API_KEY: apiKey };
  const end = async (): Promise<void> => {
    await server.end("SIGTERM");
    await folder.remove();
  };
  readers.push({ known, folder, command, end });
}

before(async () => {
  if (skip) return;
  await start(({ command }) => command);
  await start(({ command }) => command.replaceAll("$BASE_URL/gateway/", "$BASE_URL/"));
});
after(async () => {
  for (const { end } of readers) await end();
});

/** Runs all examples of one section on both servers, in the order of the page. */
async function section(name: string): Promise<void> {
  const its = examples.filter((example) => example.section === name);
  assert.ok(its.length > 0, `The page has no section ${name}.`);
  asked.add(name);
  for (const { known, folder, command } of readers)
    for (const example of its) await checkExample({ ...example, command: command(example) }, folder.path, known);
}

test("curl: project, connector and pipeline from YAML, and a run", { skip }, () =>
  section("Projects, connectors and pipelines"),
);

test(
  "curl: applications and their pipelines, by key, by bearer token, as a form, at both addresses; rule 1",
  { skip },
  () => section("Applications"),
);

test("curl: executions by pipeline of the last twenty-four hours, with limit and offset", { skip }, async () => {
  for (const { known } of readers) {
    const { BASE_URL: baseUrl = "", ACCOUNT_ID: accountId = "", API_KEY: apiKey = "", EXECUTION_ID = "" } = known;
    await createClient({ baseUrl, accountId, apiKey }).end(EXECUTION_ID);
  }
  await section("Executions");
});

test("curl: a trigger is created, stopped and deleted", { skip }, () => section("Triggers"));

test("curl: userByName", { skip }, () => section("Users"));

test("curl: a secret's file is created in both forms of scoping, updated, read and deleted", { skip }, () =>
  section("Secrets"),
);

test("curl: delegate tags are read, added, replaced and cleared", { skip }, () => section("Delegate tags"));

test("curl: the four SCIM settings", { skip }, () => section("Settings"));

test("curl: 400, 401, 402, 403 and 404 from REST and from GraphQL", { skip }, () => section("Refusals"));

test("every section of the page runs, and every request has the prefix that the other server omits", () => {
  if (!skip) assert.deepEqual([...asked].toSorted(), [...new Set(examples.map((one) => one.section))].toSorted());
  for (const { command, line } of examples) assert.match(command, /curl "\$BASE_URL\/gateway\//, String(line));
});

test("a command without a response is refused, and any difference in a response is found", () => {
  const command = '## One\n\n```sh curl\ncurl "$BASE_URL/x"\n```\n';
  assert.throws(() => examplesOf(command), /line 3 has no response/);
  const [example] = examplesOf(`${command}\n\`\`\`json 200\n{}\n\`\`\`\n`);
  assert.deepEqual([example?.section, example?.status, example?.answer], ["One", 200, "{}\n"]);

  const id = "AaH-jlHKdNyCDexCC78erw";
  const now = Date.now();
  const answer = { id, list: [{ at: now }], text: `no [${id}]` };
  const page = { id: "<SECRET_ID>", list: [{ at: "<time>" }], text: "no [<SECRET_ID>]" };
  const known: KnownValues = {};
  assert.deepEqual(fillIn(page, answer, known), answer);
  assert.deepEqual(known, { SECRET_ID: id });
  for (const other of [
    { ...answer, id: "BbH-jlHKdNyCDexCC78erw" },
    { ...answer, list: [{ at: "now" }] },
    { ...answer, list: [{ at: now / 1000 }] },
    { ...answer, list: [] },
    { ...answer, text: "no" },
    { ...answer, more: null },
    { id, list: answer.list },
  ])
    assert.notDeepEqual(fillIn(page, other, known), other, JSON.stringify(other));
  assert.notDeepEqual(fillIn({ id: "<OTHER>" }, { id: "short" }, {}), { id: "short" });
});
