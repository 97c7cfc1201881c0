/**
 * GraphQL `executions` with the pipeline filter over thousands of stored
 * executions, at limit 1 and 100: requests per second, beside a bare `node:http`
 * server that runs the very same statement on the same data
 * (bench/bare-server.ts). Server, database, bare server and load generator are
 * processes of their own. The two servers take turns, and of each pair the ratio
 * is taken, so that a slow moment of the machine meets both; the medians count.
 */
import { listStatement } from "../src/executions/index.ts";
import type { BareOrder } from "./bare-server.ts";
import type { LoadAnswer, LoadOrder } from "./load.ts";
import { startHelper, type Helper } from "./parts/children.ts";
import { makeClient } from "./parts/client.ts";
import { lookInto, type Look } from "./parts/database.ts";
import { createPipeline, createProject, execute, logOf } from "./parts/pipelines.ts";
import { cpuSecondsOf } from "./parts/processes.ts";
import { median, type Bench, type Figure } from "./parts/result.ts";
import { withServer, type Facts } from "./parts/server.ts";

const STORED = 5_000;
const LIMITS = [1, 100] as const;
const PAIRS = 7;
const ROUND_MS = 1_500;
const WARM_UP_MS = 2_500;
/** As many as Railhead's own pool has. */
const POOL = 10;
const CONNECTIONS = 10;

const QUERY = `query ($filters: [ExecutionFilter], $limit: Int) {
  executions(filters: $filters, limit: $limit) { nodes { id application { name } status startedAt endedAt } }
}`;

/** Requests per second, and the processor time that the server's process (not the database's) spent on each, in ms. */
type Round = { readonly rate: number; readonly cpu: number };
type Pair = { readonly ours: Round; readonly bare: Round };

export const graphql: Bench = (signal, progress) =>
  withServer(signal, async (server) => {
    progress("storing executions");
    const client = makeClient(server.facts, 2, signal);
    await createProject(client);
    for (const name of ["measured", "other"])
      await logOf(client, await execute(client, await createPipeline(client, name, 1, "echo done")));
    client.close();
    const databaseUrl = await server.databaseUrl();
    const look = await lookInto(databaseUrl);
    const pipeline = await store(look);
    await look.close();
    const [load, bare] = [startHelper("load.ts"), startHelper("bare-server.ts")];
    try {
      const order: BareOrder = { databaseUrl, poolSize: POOL, statements: statementsFor(pipeline) };
      const barePort = await bare.ask<number>(order);
      const figures: Figure[] = [];
      const pairs: Record<string, readonly number[]> = {};
      for (const limit of LIMITS) {
        const subjects = {
          ours: { order: askOurs(server.facts, pipeline, limit), pid: server.pid },
          bare: { order: askBare(server.facts, pipeline, limit, barePort), pid: bare.pid },
        };
        const measured = await measure(load, subjects, limit, (text) => {
          signal.throwIfAborted();
          progress(`limit ${limit}, ${text}`);
        });
        figures.push(...figuresOf(limit, measured));
        pairs[`ratiosAtLimit${limit}`] = measured.map(({ ours, bare }) =>
          Number((ours.rate / bare.rate).toPrecision(4)),
        );
      }
      const parameters = {
        stored: 2 * STORED,
        ofThePipeline: STORED,
        connections: CONNECTIONS,
        pool: POOL,
        pairs: PAIRS,
        roundMs: ROUND_MS,
      };
      return {
        definition:
          "GraphQL executions(filters: pipeline, limit) selecting id, application { name }, status, startedAt, endedAt: requests per second; " +
          "floor: node:http with the same SQL statement, prepared, and JSON.stringify of the same fields; ratio: median over alternating pairs.",
        parameters: { ...parameters, ...pairs },
        figures,
      };
    } finally {
      await Promise.all([load.stop(), bare.stop()]);
    }
  });

type Ids = { readonly accountId: string; readonly pipelineId: string };

/** Copies the one run of each pipeline, a second earlier each; answers the pipeline to ask for. */
async function store(look: Look): Promise<Ids> {
  await look.query(
    `insert into executions (account_id, id, project_id, pipeline_id, pipeline_version, run_sequence, status, plan, state,
                             trigger_type, triggered_by, input_yaml, created_at, started_at, ended_at)
     select account_id, uuidv7(), project_id, pipeline_id, pipeline_version, n, status, plan, state,
            trigger_type, triggered_by, input_yaml, created_at - n * 1000, started_at - n * 1000, ended_at - n * 1000
       from generate_series(2, $1::int) n, executions`,
    [STORED],
  );
  await look.query("vacuum analyze executions");
  const [found] = await look.query<Ids>(
    `select account_id as "accountId", id as "pipelineId" from pipelines where identifier = 'measured'`,
  );
  if (!found) throw new Error("the pipeline is not stored");
  return found;
}

function statementsFor({ accountId, pipelineId }: Ids): BareOrder["statements"] {
  type Account = Parameters<typeof listStatement>[0];
  const [account, pipeline] = [accountId as Account, pipelineId as Account];
  return Object.fromEntries(
    LIMITS.map((limit) => [
      limit,
      listStatement(account, [{ is: "pipelineIs", value: pipeline }], { limit, offset: 0 }),
    ]),
  );
}

function askOurs({ baseUrl, accountId, apiKey }: Facts, { pipelineId }: Ids, limit: number): LoadOrder {
  // The id on the wire: the UUID's bytes in base64url.
  const id = Buffer.from(pipelineId.replaceAll("-", ""), "hex").toString("base64url");
  const filters = [{ pipeline: { operator: "EQUALS", values: [id] } }];
  return {
    port: Number(new URL(baseUrl).port),
    method: "POST",
    path: `/gateway/api/graphql?accountId=${accountId}`,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ query: QUERY, variables: { filters, limit } }),
    connections: CONNECTIONS,
    milliseconds: ROUND_MS,
  };
}

/** The same request; the bare server looks at its address only. */
const askBare = (facts: Facts, ids: Ids, limit: number, port: number): LoadOrder => ({
  ...askOurs(facts, ids, limit),
  port,
  path: `/${limit}`,
});

type Subject = { readonly order: LoadOrder; readonly pid: number };

async function measure(
  load: Helper,
  { ours, bare }: Readonly<Record<"ours" | "bare", Subject>>,
  limit: number,
  progress: (text: string) => void,
): Promise<readonly Pair[]> {
  const round = async ({ order, pid }: Subject, milliseconds = ROUND_MS): Promise<Round> => {
    const before = cpuSecondsOf(pid);
    const answer = await load.ask<LoadAnswer>({ ...order, milliseconds });
    check(answer, limit);
    return { rate: answer.perSecond, cpu: ((cpuSecondsOf(pid) - before) * 1_000) / answer.requests };
  };
  progress("warming up");
  for (const subject of [ours, bare]) await round(subject, WARM_UP_MS);
  const pairs: Pair[] = [];
  for (let n = 1; n <= PAIRS; n += 1) {
    progress(`pair ${n} of ${PAIRS}`);
    pairs.push({ ours: await round(ours), bare: await round(bare) });
  }
  return pairs;
}

/** Both servers have to have answered what the query asks for. */
function check({ error, body }: LoadAnswer, limit: number): void {
  if (error !== null) throw new Error(error);
  type Node = Readonly<Record<"id" | "application" | "status" | "startedAt" | "endedAt", unknown>>;
  const { nodes } = (JSON.parse(body) as { data: { executions: { nodes: readonly Node[] } } }).data.executions;
  if (nodes.length !== limit || nodes.some(({ endedAt }) => typeof endedAt !== "number"))
    throw new Error(`not the answer to measure: ${body.slice(0, 300)}`);
}

function figuresOf(limit: number, pairs: readonly Pair[]): readonly Figure[] {
  const of = (what: keyof Round) => ({
    value: median(pairs.map(({ ours }) => ours[what])),
    floor: median(pairs.map(({ bare }) => bare[what])),
    ratio: median(pairs.map(({ ours, bare }) => ours[what] / bare[what])),
  });
  return [
    { name: `executions at limit ${limit}`, ...of("rate"), unit: "/s", goal: { of: "ratio", atLeast: 0.6 } },
    { name: `processor time per request at limit ${limit}`, ...of("cpu"), unit: "ms" },
  ];
}
