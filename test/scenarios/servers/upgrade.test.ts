/**
 * A server of this version takes over the database of the version before engine model 2, and its delegate, while steps
 * run, wait, stop and roll back. Both come from the history of the repository.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createClient, type Client } from "../../support/clients/client.ts";
import { readUntil } from "../../support/clients/event-stream.ts";
import { pipeline, pipelineOf, stage, step } from "../../support/clients/pipeline.ts";
import type { Program } from "../../support/processes/program.ts";
import {
  createBarrier,
  createServerFolder,
  readFacts,
  startServer,
  type Barrier,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";

type Programs = typeof import("../../support/processes/program.ts");
type Servers = typeof import("../../support/processes/server-process.ts");

/** The last commit that wrote executions of format 1. */
const OLD = "4c817a201bb9782acb12e3d988265b6469de64ff";
const ROOT = new URL("../../../", import.meta.url).pathname;

const git = (...args: readonly string[]): string =>
  execFileSync("git", ["-C", ROOT, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();

/** The reason why the old version cannot be had. */
function oldIsMissing(): string | undefined {
  try {
    git("cat-file", "-e", `${OLD}^{commit}`);
    return undefined;
  } catch {
    return `the history of this checkout has no commit ${OLD.slice(0, 8)}: it is shallow, or no clone`;
  }
}

const skip = oldIsMissing() ?? false;
let folder: ServerFolder;
let server: ServerProcess;
let client: Client;
let oldDelegate: Program;
let newDelegate: Program;
let token: string;
const barriers: Barrier[] = [];

const at = (tree: string, path: string): string => join(tree, "test/support/processes", path);

before(async () => {
  if (skip !== false) return;
  folder = await createServerFolder();
  const tree = join(folder.path, "old");
  await mkdir(tree);
  // Its packages are those of now, without the ones that were added since.
  execFileSync("/bin/sh", ["-c", 'git -C "$0" archive "$1" | tar -x -C "$2"', ROOT, OLD, tree]);
  symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"));
  const servers = (await import(at(tree, "server-process.ts"))) as Servers;
  server = await servers.startServer(folder, { RAILHEAD_LOCAL_DELEGATE: "off" });
  client = createClient(await readFacts(folder));
  await client.makeProject();
  token = (await client.send("POST", "/ng/api/delegate-token-ng?tokenName=upgrade")).body.resource.value;
  oldDelegate = await joined((await import(at(tree, "program.ts"))) as Programs, "old");
});

after(async () => {
  for (const program of [newDelegate, oldDelegate, server]) await program?.end("SIGTERM");
  for (const barrier of barriers) barrier.close();
  await folder?.remove();
});

/** Starts a delegate of the version that `programs` are from. */
async function joined({ startProgram }: Programs, name: string): Promise<Program> {
  const options = ["--url", server.url, "--token", token, "--name", name, "--tag", name];
  const args = ["delegate", ...options, "--work-dir", join(folder.path, name)];
  const program = startProgram({ args, env: {}, cwd: folder.path });
  await program.waitForOutput(/connected to the server/);
  return program;
}

/** A script that says its name, and goes on when the test lets it. */
function waiting(name: string): { readonly script: string; readonly barrier: Barrier } {
  const barrier = createBarrier(folder);
  barriers.push(barrier);
  return { script: `echo "${name} waits"; read -r word < ${barrier.path}; echo "${name} $word"; x=kept`, barrier };
}

async function started(name: string, text: string): Promise<string> {
  const id = await client.run(name);
  await readUntil(client.follow(id), text);
  return id;
}

test("steps that run, wait, stop and roll back go on under the new server", { skip }, async () => {
  const [running, undoing] = [waiting("long"), waiting("undo")];
  const output = 'echo "after <+execution.steps.long.output.outputVariables.x>"';
  const long = step("long", running.script, { outputs: ["x"], timeout: "5m" });
  await client.makePipeline(pipelineOf("running", long, step("after", output)));
  const found = step("found", "echo found", { selectors: ["new"] });
  await client.makePipeline(pipelineOf("waiting", found, step("two", "echo two")));
  await client.makePipeline(
    pipelineOf("stopping", step("deaf", "trap '' TERM; echo deaf; while :; do sleep 0.1; done")),
  );
  await client.makePipeline(pipelineOf("expiring", step("slow", "echo slow; sleep 300", { timeout: "10s" })));
  const undo = step("undo", undoing.script, { timeout: "5m" });
  await client.makePipeline(pipeline("rolling", [stage("only", [step("broken", "echo broken; exit 3")], [undo])]));

  const ids = {
    running: await started("running", "long waits\n"),
    rolling: await started("rolling", "undo waits\n"),
    stopping: await started("stopping", "deaf\n"),
    expiring: await started("expiring", "slow\n"),
    waiting: await client.run("waiting"),
  };
  const aborted = await client.abort(ids.stopping);
  assert.equal(aborted.status, 200, aborted.text);
  assert.equal((await server.end("SIGTERM")).code, 0);
  assert.equal(oldDelegate.child.exitCode, null, "the delegate goes on without a server");

  server = await startServer(folder, { PORT: new URL(server.url).port, RAILHEAD_LOCAL_DELEGATE: "off" });
  await oldDelegate.waitForOutput(/connected to the server[\s\S]*connected to the server/);
  for (const { barrier } of [running, undoing]) barrier.open("goes on");

  assert.equal(await client.end(ids.running), "SUCCESS");
  assert.equal(await client.log(ids.running), "long waits\nlong goes on\nafter kept\n");
  assert.equal(await client.end(ids.rolling), "FAILED");
  assert.equal(await client.log(ids.rolling), "broken\nundo waits\nundo goes on\n");
  assert.equal(await client.end(ids.stopping), "ABORTED");
  assert.equal((await client.node(ids.stopping, "deaf")).status, "Aborted");
  assert.equal(await client.end(ids.expiring), "FAILED");
  assert.equal((await client.node(ids.expiring, "slow")).status, "Expired");

  assert.equal((await client.node(ids.waiting, "found")).status, "TaskWaiting");
  newDelegate = await joined(await import("../../support/processes/program.ts"), "new");
  assert.equal(await client.end(ids.waiting), "SUCCESS");
  assert.equal(await client.log(ids.waiting), "found\ntwo\n");
  assert.equal(await client.end(await client.run("waiting")), "SUCCESS", "a new execution on both delegates");
});
