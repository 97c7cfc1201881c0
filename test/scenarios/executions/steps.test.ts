/** Steps in a real Bash: failure and rollback, abort, and values that look like code. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";
import { isAlive } from "../../../delegate/processes/processes.ts";
import { stepProcess } from "../../../delegate/testing/step-process.ts";
import { createClient, type Client } from "../../support/clients/client.ts";
import { databaseByAddress } from "../../support/database.ts";
import { readUntil } from "../../support/clients/event-stream.ts";
import { pipeline, pipelineOf, stage, step } from "../../support/clients/pipeline.ts";
import {
  createServerFolder,
  processesIn,
  readFacts,
  startServer,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";

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

test("a failing step rolls its stage back, and the next stage does not run", async () => {
  await client.makePipeline(
    pipeline("fails", [
      stage("first", [step("fine", "echo fine")], [step("undo_first", "echo not needed")]),
      stage(
        "second",
        [step("breaks", "echo breaking >&2; exit 3"), step("never", "echo never")],
        [step("undo", "echo undone"), step("undo_more", "echo undone, too")],
      ),
      stage("third", [step("later", "echo later")], [step("undo_later", "echo never undone")]),
    ]),
  );
  const id = await client.run("fails");
  assert.equal(await client.end(id), "FAILED");
  assert.equal(await client.log(id), "fine\nbreaking\nundone\nundone, too\n");
  const status = async (node: string): Promise<string> => (await client.node(id, node)).status;
  const nodes = ["first", "fine", "second", "breaks", "undo", "undo_more"];
  assert.deepEqual(await Promise.all(nodes.map(status)), [
    "Success",
    "Success",
    "Failed",
    "Failed",
    "Success",
    "Success",
  ]);
  for (const node of ["never", "third", "later", "undo_first", "undo_later"])
    assert.ok(["Skipped", "NotStarted"].includes(await status(node)), `${node} is ${await status(node)}`);
  assert.match((await client.node(id, "breaks")).failureInfo.message, /\b3\b/);
});

test("an abort also ends processes in the background", async () => {
  // A process in a new session without the step's environment.
  const hidden = `setsid env -i /bin/sh -c 'echo "hidden=$$"; exec tail -f /dev/null' &`;
  const script = `${hidden}\necho "shell=$$"\nwait`;
  await client.makePipeline(
    pipeline("aborted", [
      stage("first", [step("hangs", script)], [step("undo", "echo undone")]),
      stage("second", [step("later", "echo later")]),
    ]),
  );
  const id = await client.run("aborted");
  const stream = client.follow(id);
  const begun = await readUntil(stream, "hidden=");
  const { text } = begun.text.includes("shell=") ? begun : await readUntil(stream, "shell=");
  const printed = begun.text + text;
  const processes = ["hidden", "shell"].map((name) => {
    const [, pid] = new RegExp(`${name}=(\\d+)`).exec(printed) ?? [];
    assert.ok(pid, printed);
    return { name, process: stepProcess(`${folder.delegateDir}/tasks`, Number(pid)) };
  });
  const answer = await client.abort(id);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(await client.end(id), "ABORTED");
  const node = await client.node(id, "hangs");
  assert.equal(node.status, "Aborted");
  assert.equal(node.stepDetails.cancel.survivors, 0);
  for (const { name, process } of processes) assert.equal(isAlive(process), false, `${name} is alive`);
  assert.deepEqual(
    processesIn(folder.delegateDir).filter(({ cwd }) => cwd.includes("/tasks/")),
    [],
  );
  assert.doesNotMatch(await client.log(id), /undone|later/);
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");

test("output variables and values that look like code keep every byte", async () => {
  const hacked = `${folder.exchange}/hacked`;
  // The attack would succeed if it ran: the step itself can create a file in this folder.
  const reached = `${folder.exchange}/reached`;
  const touch = `touch ${hacked}`;
  const evil =
    `$(${touch}) \`${touch}\` "; ${touch}; echo "' ; ${touch} ; echo ' \\" \\ \${HOME} \\$(${touch}) $'\\n'\n` +
    `EOF\n${touch}\n<+pipeline.name> <+secrets.getValue("x")> %s * ~ ! é 🚂\t\r end\n`;
  const show = (value: string): string => `printf '%s' "${value}" | base64 -w0; echo`;
  const first = [
    show("<+trigger.payload.evil>"),
    show("$EVIL"),
    // Here-documents end with a line break.
    `base64 -w0 <<EOF\n<+trigger.payload.evil>\nEOF\necho`,
    `copy="$EVIL"; quotes=$'a "b" \\'c\\'\\n\\n$(${touch})\\n'; empty=`,
    `touch ${reached}`,
  ].join("\n");
  await client.makePipeline(
    pipelineOf(
      "evil",
      step("first", first, { env: { EVIL: "<+trigger.payload.evil>" }, outputs: ["copy", "quotes", "empty"] }),
      step(
        "second",
        [show("$COPY"), show("<+execution.steps.first.output.outputVariables.quotes>"), show("$EMPTY")].join("\n"),
        {
          env: {
            COPY: "<+execution.steps.first.output.outputVariables.copy>",
            EMPTY: "<+execution.steps.first.output.outputVariables.empty>",
          },
        },
      ),
    ),
  );
  const webhook = await client.makeWebhook("evil");
  const called = await fetch(webhook, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ evil }),
  });
  assert.equal(called.status, 200);
  const { data } = (await called.json()) as { data: { apiUrl: string } };
  const id = await client.executionOf(data.apiUrl);
  assert.equal(await client.end(id), "SUCCESS");
  const quotes = `a "b" 'c'\n\n$(${touch})\n`;
  const expected = [evil, evil, `${evil}\n`, evil, quotes, ""];
  assert.equal(await client.log(id), `${expected.map(base64).join("\n")}\n`);
  assert.deepEqual((await client.node(id, "first")).outcomes.output.outputVariables, { copy: evil, quotes, empty: "" });
  assert.equal(existsSync(reached), true);
  assert.equal(existsSync(hacked), false);
});

test("a script continues after a failing command unless errexit is set, and line numbers are those of the script", async () => {
  const script = 'echo "line $LINENO"\nfalse\necho "line $LINENO"\nlast=$LINENO';
  await client.makePipeline(
    pipelineOf("errexit", step("goes_on", script, { outputs: ["last"] }), step("ends", script, { errexit: true })),
  );
  const id = await client.run("errexit");
  assert.equal(await client.end(id), "FAILED");
  assert.equal(await client.log(id), "line 1\nline 3\nline 1\n");
  const [goesOn, ends] = await Promise.all([client.node(id, "goes_on"), client.node(id, "ends")]);
  assert.deepEqual([goesOn.status, goesOn.outcomes.output.outputVariables], ["Success", { last: "4" }]);
  assert.equal(ends.status, "Failed");
  assert.match(ends.failureInfo.message, /exited with code 1/);
});
