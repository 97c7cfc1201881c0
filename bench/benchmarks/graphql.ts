/**
 * GraphQL lists over 10,000 and 1,000,000 stored executions in 200 pipelines: requests per second and the 99th
 * percentile of their times. The floor is a bare `node:http` server that runs the same statements on the same data
 * (bench/load/bare-server.ts). Server, database, bare server and load generator are separate processes. The two servers
 * alternate, so that a slow moment of the machine affects both. A figure is the median of the ratios of all pairs.
 */
import { Client } from "pg";
import { listStatement } from "../../src/executions/index.ts";
import { applicationsStatement } from "../../src/projects/index.ts";
import type { BareOrder } from "../load/bare-server.ts";
import type { LoadAnswer, LoadOrder } from "../load/generator.ts";
import { startHelper, type Helper } from "../load/children.ts";
import { cpuSecondsOf, ENOUGH_TICKS_MS } from "../platform/processes.ts";
import { median, type Bench, type Figure, type Sizes } from "../runner/result.ts";
import { withServer, type Facts, type Server } from "../platform/server.ts";
import { prepareStored, type Stored } from "../platform/stored-executions.ts";
import { runTemplates } from "../platform/template-runs.ts";

type Extent = {
  /** Numbers of stored executions in the first and the second measurement. */
  readonly stored: readonly [few: number, many: number];
  readonly pairs: number;
  readonly roundMs: number;
  readonly warmUpMs: number;
};

/** The busiest pipeline needs 100 executions; 1,000 stored ones are the fewest that give it so many. */
const SIZES: Sizes<Extent> = {
  whole: { stored: [10_000, 1_000_000], pairs: 9, roundMs: 1_000, warmUpMs: 2_500 },
  brief: { stored: [1_000, 2_000], pairs: 1, roundMs: ENOUGH_TICKS_MS, warmUpMs: 50 },
};
/** The size of the server's pool. */
const POOL = 10;
const CONNECTIONS = 10;
const DAY_MS = 86_400_000;

const EXECUTIONS = `query ($filters: [ExecutionFilter], $limit: Int, $offset: Int) {
  executions(filters: $filters, limit: $limit, offset: $offset) { nodes { id application { name } status startedAt endedAt } }
}`;
const APPLICATIONS = "query ($limit: Int) { applications(limit: $limit) { nodes { id name } } }";

type Account = Parameters<typeof listStatement>[0];

/** A list as a GraphQL query and as the SQL statement behind it. */
type Case = {
  readonly name: string;
  readonly query: string;
  readonly variables: object;
  readonly statement: BareOrder["statements"][string];
  readonly nodes: number;
};

function casesOf({ accountId, pipelineId }: Stored): readonly Case[] {
  const [account, pipeline] = [accountId as Account, pipelineId as Account];
  // Wire ids are the UUID's bytes in base64url.
  const id = Buffer.from(pipelineId.replaceAll("-", ""), "hex").toString("base64url");
  const ofPipeline = [{ pipeline: { operator: "EQUALS", values: [id] } }];
  const executions = (limit: number) => ({
    name: `executions of a pipeline, limit ${limit}`,
    query: EXECUTIONS,
    variables: { filters: ofPipeline, limit },
    statement: {
      kind: "executions" as const,
      ...listStatement(account, [{ is: "pipelineIs", value: pipeline }], { limit, offset: 0 }),
    },
    nodes: limit,
  });
  const [after, before] = [Date.now() - DAY_MS, Date.now()];
  const day = [{ startTime: { operator: "AFTER", value: after } }, { endTime: { operator: "BEFORE", value: before } }];
  const ofDay = [
    { is: "startedAfter", value: after },
    { is: "endedBefore", value: before },
  ] as const;
  return [
    executions(1),
    executions(100),
    {
      name: "executions of the last 24 hours, limit 100",
      query: EXECUTIONS,
      variables: { filters: day, limit: 100, offset: 0 },
      statement: { kind: "executions", ...listStatement(account, ofDay, { limit: 100, offset: 0 }) },
      nodes: 100,
    },
    {
      name: "applications, limit 10",
      query: APPLICATIONS,
      variables: { limit: 10 },
      statement: {
        kind: "applications",
        ...applicationsStatement(account, { reach: "all", window: { limit: 10, offset: 0 } }),
      },
      nodes: 10,
    },
  ];
}

/** Requests per second, the 99th percentile of their times and the server's processor time per request, both in ms. */
type Round = { readonly rate: number; readonly p99: number; readonly cpu: number };
type Pair = { readonly ours: Round; readonly bare: Round };
type Rounds = Omit<Extent, "stored"> & { readonly report: (text: string) => void };

export const graphql: Bench = (signal, progress, size) =>
  withServer(signal, async (server) => {
    progress("running the executions to copy");
    const client = new Client({ connectionString: await server.databaseUrl() });
    await client.connect();
    const load = startHelper("generator.ts");
    try {
      await runTemplates(server, client, signal);
      const stored = await prepareStored(client);
      const measured = new Map<string, ReadonlyMap<number, readonly Pair[]>>();
      const extent = SIZES[size];
      for (const count of extent.stored) {
        progress(`storing ${count} executions`);
        await stored.fill(count, signal);
        const report = (text: string): void => {
          signal.throwIfAborted();
          progress(`${count} stored, ${text}`);
        };
        for (const [name, pairs] of await measureAll(server, load, stored, { ...extent, report }))
          measured.set(name, new Map([...(measured.get(name) ?? []), [count, pairs]]));
      }
      return resultOf(measured, extent);
    } finally {
      await client.end();
      await load.stop();
    }
  });

async function measureAll(
  server: Server,
  load: Helper,
  stored: Stored,
  rounds: Rounds,
): Promise<readonly (readonly [string, readonly Pair[]])[]> {
  const cases = casesOf(stored);
  const bare = startHelper("bare-server.ts");
  try {
    const statements = Object.fromEntries(cases.map(({ statement }, n) => [String(n), statement]));
    const order: BareOrder = { databaseUrl: await server.databaseUrl(), poolSize: POOL, statements };
    const port = await bare.ask<number>(order);
    const results: [string, readonly Pair[]][] = [];
    for (const [n, one] of cases.entries()) {
      const ours = { order: railheadOrder(server.facts, one), pid: server.pid };
      const subjects = { ours, bare: { order: { ...ours.order, port, path: `/${n}` }, pid: bare.pid } };
      const report = (text: string): void => rounds.report(`${one.name}, ${text}`);
      results.push([one.name, await measure(load, subjects, one.nodes, { ...rounds, report })]);
    }
    return results;
  } finally {
    await bare.stop();
  }
}

type OrderWithoutTime = Omit<LoadOrder, "milliseconds">;

const railheadOrder = ({ baseUrl, accountId, apiKey }: Facts, { query, variables }: Case): OrderWithoutTime => ({
  port: Number(new URL(baseUrl).port),
  method: "POST",
  path: `/gateway/api/graphql?accountId=${accountId}`,
  headers: { "x-api-key": apiKey, "content-type": "application/json" },
  body: JSON.stringify({ query, variables }),
  connections: CONNECTIONS,
});

type Subject = { readonly order: OrderWithoutTime; readonly pid: number };

async function measure(
  load: Helper,
  { ours, bare }: Readonly<Record<"ours" | "bare", Subject>>,
  nodes: number,
  { pairs: measured, roundMs, warmUpMs, report }: Rounds,
): Promise<readonly Pair[]> {
  const round = async ({ order, pid }: Subject, milliseconds = roundMs): Promise<Round> => {
    const before = cpuSecondsOf(pid);
    const answer = await load.ask<LoadAnswer>({ ...order, milliseconds } satisfies LoadOrder);
    check(answer, nodes);
    const cpu = ((cpuSecondsOf(pid) - before) * 1_000) / answer.requests;
    return { rate: answer.perSecond, p99: answer.p99, cpu };
  };
  report("warming up");
  for (const subject of [ours, bare]) await round(subject, warmUpMs);
  const pairs: Pair[] = [];
  for (let n = 1; n <= measured; n += 1) {
    report(`pair ${n} of ${measured}`);
    pairs.push({ ours: await round(ours), bare: await round(bare) });
  }
  return pairs;
}

/** Throws unless the answer has the nodes that the query selects. */
function check({ error, body }: LoadAnswer, wanted: number): void {
  if (error !== null) throw new Error(error);
  type Lists = Readonly<Record<string, { readonly nodes: readonly Readonly<Record<string, unknown>>[] }>>;
  const { data } = JSON.parse(body) as { data: Lists };
  const { nodes = [] } = data["executions"] ?? data["applications"] ?? {};
  if (
    nodes.length !== wanted ||
    nodes.some(({ id, endedAt = 0 }) => typeof id !== "string" || typeof endedAt !== "number")
  )
    throw new Error(`unexpected answer: ${body.slice(0, 300)}`);
}

function resultOf(
  measured: ReadonlyMap<string, ReadonlyMap<number, readonly Pair[]>>,
  { stored: [few, many], pairs: count, roundMs }: Extent,
) {
  const figures: Figure[] = [];
  const ratios: Record<string, readonly number[]> = {};
  for (const [name, bySize] of measured) {
    for (const [size, pairs] of bySize) {
      figures.push(...figuresOf(`${name}, ${size} stored`, pairs));
      ratios[`ratios: ${name}, ${size} stored`] = pairs.map(({ ours, bare }) =>
        Number((ours.rate / bare.rate).toPrecision(4)),
      );
    }
    const p99 = (size: number): number => median((bySize.get(size) ?? []).map(({ ours }) => ours.p99));
    const [value, floor] = [p99(many), p99(few)];
    figures.push({
      name: `${name}: p99 at ${many} beside ${few}`,
      value,
      floor,
      ratio: value / floor,
      unit: "ms",
      goal: { of: "ratio", atMost: 1.5 },
    });
  }
  return {
    definition:
      "GraphQL lists over stored executions: requests per second over 10 connections, and the 99th percentile of their times; " +
      "floor: node:http with the same SQL statement, prepared, and JSON.stringify of the same fields; ratio: median over alternating pairs.",
    parameters: { connections: CONNECTIONS, pool: POOL, pairs: count, roundMs, ...ratios },
    figures,
  };
}

function figuresOf(name: string, pairs: readonly Pair[]): readonly Figure[] {
  const of = (what: keyof Round) => ({
    value: median(pairs.map(({ ours }) => ours[what])),
    floor: median(pairs.map(({ bare }) => bare[what])),
    ratio: median(pairs.map(({ ours, bare }) => ours[what] / bare[what])),
  });
  return [
    { name, ...of("rate"), unit: "/s", goal: { of: "ratio", atLeast: 0.75 } },
    { name: `${name}: p99`, ...of("p99"), unit: "ms" },
    { name: `${name}: processor time per request`, ...of("cpu"), unit: "ms" },
  ];
}
