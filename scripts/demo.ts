/**
 * `npm run demo` shows a deployment from YAML to a finished execution. It starts a platform on free ports with a
 * temporary data directory, and stops and removes everything at the end; with `--keep`, after Ctrl-C.
 */
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { styleText } from "node:util";
import { createClient, type Client } from "./demo/client.ts";
import { startServer, type Facts, type RunningServer } from "./demo/server.ts";

const EXAMPLES = new URL("../examples/quickstart/", import.meta.url);
const PAYLOAD = { version: "1.4.2", commit: "9fceb02", author: "Ada Lovelace" };
const SCOPE = "orgIdentifier=default&projectIdentifier=quickstart";
const PROJECT_PAGE = "/projects/default/quickstart";
const PIPELINE = "deploy_web_shop";

const startedAt = Date.now();
const bold = (text: string): string => styleText("bold", text);
const dim = (text: string): string => styleText("dim", text);
const green = (text: string): string => styleText("green", text);

const line = (text = ""): void => void process.stdout.write(`${text}\n`);
/** Runs one step of the demo and prints its name, result and duration. */
async function progress<T>(what: string, work: () => Promise<T>, result: (value: T) => string): Promise<T> {
  const from = Date.now();
  const value = await work();
  line(`${green("✓")} ${what.padEnd(34)} ${dim(`${result(value)}  ${Date.now() - from} ms`)}`);
  return value;
}

async function main(args: readonly string[]): Promise<void> {
  const unknown = args.find((arg) => arg !== "--keep");
  if (unknown !== undefined) throw new Error(`the demo takes only --keep, not ${unknown}`);
  const folder = await mkdtemp(join(tmpdir(), "railhead-demo-"));
  // Database and steps may run as other users, which need access to their subfolders.
  await chmod(folder, 0o711);
  let server: RunningServer | undefined;
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => interrupted.abort(new Error(`stopped by ${signal}`)));
  line(bold("Railhead, from YAML to a finished execution"));
  line();
  try {
    server = await progress(
      "Server, database and delegate",
      () => startServer(folder, interrupted.signal),
      (one) => one.facts.baseUrl,
    );
    await tour(createClient(server.facts, interrupted.signal), server.facts);
    if (args.includes("--keep")) await keep(server.facts, interrupted.signal);
  } finally {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  }
  line();
  line(
    `${green("✓")} Everything is stopped and removed, after ${((Date.now() - startedAt) / 1000).toFixed(1)} s. ${bold("npm start")} runs it for good.`,
  );
}

/** Leaves the platform open until Ctrl-C. */
async function keep({ baseUrl, adminEmail, adminPassword }: Facts, interrupted: AbortSignal): Promise<void> {
  line();
  line(`${bold("Look around")} at ${baseUrl}`);
  line(dim(`  sign in as ${adminEmail} with the one-time password ${adminPassword}`));
  line(dim("  Ctrl-C stops and removes everything"));
  if (!interrupted.aborted) await once(interrupted, "abort");
}

const example = (name: string): Promise<string> => readFile(new URL(name, EXAMPLES), "utf8");

/** Sends an example file and prints the identifier from the answer. */
const send = <T>(
  client: Client,
  file: string,
  path: string,
  type: string,
  identifierOf: (data: T) => string,
): Promise<T> => progress(file, async () => client.send<T>(path, type, await example(file)), identifierOf);

async function tour(client: Client, { baseUrl }: Facts): Promise<void> {
  const { webhookUrl } = await setUp(client);
  line();
  line(
    `${bold("An outside system calls")} ${dim(webhookUrl.replace(/custom\/[^/]+/, "custom/…").replace(/\?.*/, ""))}`,
  );
  line(dim(`  ${JSON.stringify(PAYLOAD)}`));
  const called = Date.now();
  const delivery = await client.call(webhookUrl, PAYLOAD);
  const answered = Date.now() - called;
  const execution = await client.executionOf(delivery.apiUrl);
  line(dim(`  stored and answered in ${answered} ms; execution ${execution}`));
  line(`  ${bold("In a browser:")} ${baseUrl}${PROJECT_PAGE}/executions/${execution}`);
  line();
  line(bold("The log, live"));
  const status = await client.follow(execution, (text) => {
    const seconds = ((Date.now() - called) / 1000).toFixed(2).padStart(5);
    for (const row of text.replace(/\n$/, "").split("\n")) line(`${dim(`${seconds} s │`)} ${row}`);
  });
  await showAnswer(client);
  if (status !== "SUCCESS") throw new Error(`the execution ended with status ${status}`);
}

type Trigger = { readonly identifier: string; readonly webhookUrl: string };

async function setUp(client: Client): Promise<Trigger> {
  type Identified<K extends string> = { readonly [key in K]: { readonly identifier: string } };
  await send<Identified<"project">>(
    client,
    "project.yaml",
    "/ng/api/projects?orgIdentifier=default",
    "application/yaml",
    ({ project }) => project.identifier,
  );
  await send<Identified<"connector">>(
    client,
    "connector.yaml",
    "/ng/api/connectors",
    "text/yaml",
    ({ connector }) => connector.identifier,
  );
  await send<Identified<"service">>(
    client,
    "service.yaml",
    "/ng/api/servicesV2",
    "application/yaml",
    ({ service }) => service.identifier,
  );
  await send<Identified<"environment">>(
    client,
    "environment.yaml",
    "/ng/api/environmentsV2",
    "application/yaml",
    ({ environment }) => environment.identifier,
  );
  await send<string>(client, "pipeline.yaml", `/pipeline/api/pipelines?${SCOPE}`, "application/yaml", (name) => name);
  const triggers = `/pipeline/api/triggers?${SCOPE}&targetIdentifier=${PIPELINE}`;
  return send<Trigger>(client, "trigger.yaml", triggers, "application/yaml", ({ identifier }) => identifier);
}

async function showAnswer(client: Client): Promise<void> {
  const { query, variables, answer } = await client.latestExecution();
  line();
  line(bold("What a script asks afterwards"));
  line(dim(query.trim().replace(/^/gm, "  ")));
  line(dim(`  variables ${JSON.stringify(variables)}`));
  line(JSON.stringify(answer, null, 2).replace(/^/gm, "  "));
}

await main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`\n${styleText("red", "✗")} ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
