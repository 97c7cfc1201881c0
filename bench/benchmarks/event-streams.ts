/**
 * Event streams of executions and of projects: when an event arrives, and what open streams cost while nothing happens.
 * Executions are started and aborted, one after the other, with one stream of each kind and with many; there is no
 * delegate. Half of the many streams follow the project, the others executions that wait for a delegate.
 */
import { request } from "node:http";
import { setTimeout as rest } from "node:timers/promises";
import { Client as DatabaseClient } from "pg";
import { createClient, type Client } from "../platform/client.ts";
import { createPipeline, createProject, execute, SCOPE } from "../platform/pipelines.ts";
import { cpuSecondsOf } from "../platform/processes.ts";
import { withServer, type Server } from "../platform/server.ts";
import { median, withRatio, type Bench, type Sizes } from "../runner/result.ts";

type Parameters = {
  readonly streams: number;
  readonly followed: number;
  readonly changes: number;
  readonly idleMs: number;
};

const SIZES: Sizes<Parameters> = {
  whole: { streams: 500, followed: 50, changes: 40, idleMs: 20_000 },
  brief: { streams: 8, followed: 2, changes: 2, idleMs: 1_000 },
};
/** A caller may have 100 streams open. */
const STREAMS_OF_CALLER = 100;

export const eventStreams: Bench = (signal, progress, size) =>
  withServer(
    signal,
    async (server) => {
      const { streams, followed, changes, idleMs } = SIZES[size];
      const client = createClient(server.facts, 4, signal);
      await createProject(client);
      await createPipeline(client, "followed", 1, ":");
      const open = createOpener(server, signal);
      const database = new DatabaseClient({ connectionString: await server.databaseUrl() });
      await database.connect();
      const follow = { client, open, facts: server.facts };

      progress("one stream of each kind");
      const project = [await open(PROJECT, server.facts.apiKey)];
      await measureChanges(follow, project, Math.min(changes, 5));
      const few = await measureChanges(follow, project, changes);
      const quiet = await measureIdle(server, database, idleMs);

      progress(`${streams} streams`);
      const executions: string[] = [];
      while (executions.length < followed) executions.push(await execute(client, "followed"));
      const others: Stream[] = [];
      let apiKey = "";
      for (let nth = 0; nth < streams; nth += 1) {
        if (nth % STREAMS_OF_CALLER === 0) apiKey = await createViewer(client, server, nth / STREAMS_OF_CALLER);
        const path = nth % 2 === 0 ? PROJECT : eventsOf(executions[(nth >> 1) % followed] ?? "");
        others.push(await open(path, apiKey));
        if (nth % 2 === 0) project.push(others.at(-1) as Stream);
      }
      await measureChanges(follow, project, Math.min(changes, 5));
      const many = await measureChanges(follow, project, changes);
      const idle = await measureIdle(server, database, idleMs);

      for (const stream of [...others, ...project]) stream.close();
      await database.end();
      client.close();
      const figure = (name: string, value: readonly number[], floor: readonly number[]) =>
        withRatio({ name, value: median(value), unit: "ms", floor: median(floor) });
      return {
        definition:
          "From the request that starts or aborts an execution to the event, at the last of the streams; floor: to the " +
          `answer of the request. Then processor time and transactions of a second with ${streams} open streams; floor: with one.`,
        parameters: { streams, followed, changes, idleMs },
        figures: [
          figure("start, 1 stream of the project", few.started, few.startAnswered),
          figure("end, 1 stream of the execution", few.ended, few.endAnswered),
          figure(`start, ${project.length} streams of the project`, many.started, many.startAnswered),
          figure(`end, ${streams} other streams`, many.ended, many.endAnswered),
          withRatio({ name: "idle second, server", value: idle.server, unit: "ms", floor: quiet.server }),
          withRatio({ name: "idle second, database", value: idle.database, unit: "ms", floor: quiet.database }),
          withRatio({ name: "idle, transactions", value: idle.commits, unit: "/s", floor: quiet.commits }),
        ],
      };
    },
    { RAILHEAD_LOCAL_DELEGATE: "off" },
  );

const EXECUTIONS = "/pipeline/api/pipelines/execution";
const PROJECT = `${EXECUTIONS}/summary/events?${SCOPE}`;
const eventsOf = (execution: string): string => `${EXECUTIONS}/${execution}/events?${SCOPE}`;

type Stream = {
  /** Resolves with the time at which the text had arrived, by `performance.now`. */
  readonly arrival: (text: string) => Promise<number>;
  readonly close: () => void;
};

type Open = (path: string, apiKey: string) => Promise<Stream>;

/** Opens streams. Each has got its first event. */
function createOpener({ facts }: Server, signal: AbortSignal): Open {
  return (path, apiKey) =>
    new Promise((resolve, reject) => {
      const url = `${facts.baseUrl}${path}&accountIdentifier=${facts.accountId}`;
      let awaited: { readonly text: string; readonly resolve: (at: number) => void } | undefined;
      // What came since the last awaited text.
      let text = "";
      const check = (): void => {
        if (!awaited || !text.includes(awaited.text)) return;
        text = "";
        awaited.resolve(performance.now());
        awaited = undefined;
      };
      const sent = request(url, { headers: { "x-api-key": apiKey }, agent: false, signal }, (response) => {
        if (response.statusCode !== 200) return reject(new Error(`a stream got status ${response.statusCode}`));
        const stream: Stream = {
          arrival: (wanted) =>
            new Promise((arrived) => {
              awaited = { text: wanted, resolve: arrived };
              check();
            }),
          close: () => sent.destroy(),
        };
        response.setEncoding("utf8").on("data", (part: string) => {
          text += part;
          check();
        });
        response.on("error", () => undefined);
        void stream.arrival("\nid: ").then(() => resolve(stream));
      });
      sent.on("error", reject);
      sent.end();
    });
}

type Following = { readonly client: Client; readonly open: Open; readonly facts: Server["facts"] };

async function measureChanges({ client, open, facts }: Following, project: readonly Stream[], changes: number) {
  const { baseUrl, accountId, apiKey } = facts;
  const times = { started: [], startAnswered: [], ended: [], endAnswered: [] } as Record<
    "started" | "startAnswered" | "ended" | "endAnswered",
    number[]
  >;
  for (let nth = 0; nth < changes; nth += 1) {
    // Not in the rest after the change before.
    await rest(REST_MS);
    const [from, arrivals] = [performance.now(), project.map((stream) => stream.arrival("event: executions"))];
    const execution = await execute(client, "followed");
    times.startAnswered.push(performance.now() - from);
    times.started.push(Math.max(...(await Promise.all(arrivals))) - from);
    const own = await open(eventsOf(execution), apiKey);
    await rest(REST_MS);
    const [before, end] = [performance.now(), own.arrival("event: end")];
    const ended = project.map((stream) => stream.arrival('"status":"Aborted"'));
    const path = `/pipeline/api/pipeline/execute/interrupt/${execution}?${SCOPE}&accountIdentifier=${accountId}`;
    const { status } = await client.exchange("PUT", `${baseUrl}${path}&interruptType=AbortAll`);
    if (status !== 200) throw new Error(`an abort got status ${status}`);
    times.endAnswered.push(performance.now() - before);
    times.ended.push((await end) - before);
    await Promise.all(ended);
    own.close();
  }
  return times;
}

const REST_MS = 400;

/** Milliseconds of processor time, and transactions, of a second in which nothing happens. */
async function measureIdle({ pid }: Server, database: DatabaseClient, ms: number) {
  const read = async () => {
    const { rows } = await database.query<{ pid: number }>(
      "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
    const counted = await database.query<{ commits: string }>(
      "select xact_commit as commits from pg_stat_database where datname = current_database()",
    );
    const backends = new Map(rows.map((row) => [row.pid, cpuSecondsOf(row.pid)]));
    return { server: cpuSecondsOf(pid), backends, commits: Number(counted.rows[0]?.commits) };
  };
  const [before, from] = [await read(), performance.now()];
  await rest(ms);
  const [after, to] = [await read(), performance.now()];
  const seconds = (to - from) / 1_000;
  let spentByBackends = 0;
  for (const [backend, spent] of after.backends) spentByBackends += spent - (before.backends.get(backend) ?? spent);
  // At least half a tick of the kernel's clock.
  const perSecond = (spent: number): number => (Math.max(0.005, spent) * 1_000) / seconds;
  return {
    server: perSecond(after.server - before.server),
    database: perSecond(spentByBackends),
    commits: (after.commits - before.commits) / seconds,
  };
}

/** A service account that may view everything. */
async function createViewer(client: Client, { facts }: Server, nth: number): Promise<string> {
  const identifier = `viewer${nth}`;
  const owner = { apiKeyType: "SERVICE_ACCOUNT", parentIdentifier: identifier };
  const create = async (path: string, body: object): Promise<string> => {
    const url = `${facts.baseUrl}${path}?accountIdentifier=${facts.accountId}`;
    const answer = await client.exchange("POST", url, "application/json", JSON.stringify(body));
    if (answer.status !== 200) throw new Error(`${answer.status} ${path}: ${answer.body}`);
    return String((JSON.parse(answer.body) as { data: unknown }).data);
  };
  await create("/ng/api/serviceaccount", { identifier, name: identifier });
  await create("/authz/api/roleassignments", {
    ...{ identifier, principal: { identifier, type: "SERVICE_ACCOUNT" } },
    ...{ roleIdentifier: "_account_viewer", resourceGroupIdentifier: "_all_resources_including_child_scopes" },
  });
  await create("/ng/api/apikey", { ...owner, identifier: "k", name: "k" });
  return create("/ng/api/token", { ...owner, apiKeyIdentifier: "k", identifier: "t", name: "t" });
}
