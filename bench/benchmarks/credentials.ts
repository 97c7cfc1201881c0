/**
 * Timing and cost of credentials. The first part compares the time of a refusal for an existing id with the time for an
 * unknown id, for wrong tokens and wrong passwords. The second part compares the rate of a small GraphQL request with
 * the rate of a server without authentication and authorization.
 */
import { randomBytes, randomUUIDv7 } from "node:crypto";
import type { LoadAnswer, LoadOrder } from "../load/generator.ts";
import { startHelper, type Helper } from "../load/children.ts";
import { createClient } from "../platform/client.ts";
import { connectDatabase, type DatabaseConnection } from "../platform/database.ts";
import { createPipeline, createProject, execute } from "../platform/pipelines.ts";
import { cpuSecondsOf, ENOUGH_TICKS_MS } from "../platform/processes.ts";
import { withRatio, median, type Bench, type Figure, type Sizes } from "../runner/result.ts";
import { withServer, type Server } from "../platform/server.ts";
import { ratioBounds, spread, measureRefusals, type Attempt } from "../load/refused-requests.ts";

type Rounds = { readonly warmUp: number; readonly measured: number };
type Cost = { readonly runs: number; readonly pairs: number; readonly roundMs: number; readonly warmUpMs: number };

const SIZES: Sizes<{ tokens: Rounds; passwords: Rounds; cost: Cost }> = {
  whole: {
    tokens: { warmUp: 300, measured: 3_000 },
    passwords: { warmUp: 3, measured: 60 },
    cost: { runs: 50, pairs: 15, roundMs: 1_000, warmUpMs: 2_500 },
  },
  brief: {
    tokens: { warmUp: 1, measured: 3 },
    passwords: { warmUp: 1, measured: 2 },
    cost: { runs: 2, pairs: 2, roundMs: ENOUGH_TICKS_MS, warmUpMs: 100 },
  },
};
const CONNECTIONS = 10;
const UNREACHABLE_LIMIT = "10000000";

export const credentials: Bench = async (signal, progress, size) => {
  const { tokens, passwords, cost } = SIZES[size];
  const refusals = await withServer(signal, async (server) => {
    const database = await connectDatabase(await server.databaseUrl());
    try {
      progress("wrong tokens");
      const byToken = await wrongTokens(server, tokens, signal);
      progress("wrong passwords");
      return [byToken, await wrongPasswords(server, database, passwords, signal)];
    } finally {
      await database.close();
    }
  });
  const pairs = await withBoth(signal, (ours, open) => costOf({ ours, open }, cost, signal, progress));
  return {
    definition:
      "Refused requests, from their writing to the end of the answer, one at a time, kinds in turns; floor: the same for an id that " +
      "does not exist. GraphQL executions, limit 1, requests per second over 10 connections; floor: a server without authentication and authorization.",
    parameters: {
      tokens: tokens.measured,
      passwords: passwords.measured,
      ...Object.fromEntries(refusals.flatMap(({ parameters }) => Object.entries(parameters))),
      connections: CONNECTIONS,
      pairs: cost.pairs,
      roundMs: cost.roundMs,
      "rates with beside without": pairs.map(({ ours, open }) => Number((ours.rate / open.rate).toPrecision(4))),
    },
    figures: [...refusals.flatMap(({ figures }) => figures), ...costFigures(pairs)],
  };
};

type Comparison = {
  readonly figures: readonly Figure[];
  readonly parameters: Readonly<Record<string, readonly number[]>>;
};

/** Compares times of a known id, and of a second series for unknown ids, with the times for unknown ids. */
function compareTimes(
  name: string,
  times: Readonly<Record<"known" | "unknown" | "again", readonly number[]>>,
): Comparison {
  const { known, unknown, again } = times;
  const floor = median(unknown);
  return {
    figures: [
      withRatio({ name: `${name}, id that exists`, value: median(known), unit: "ms", floor }),
      withRatio({ name: `${name}, id that does not, once more`, value: median(again), unit: "ms", floor }),
    ],
    parameters: {
      [`${name}, exists: 5, 25, 50, 75, 95 % in ms`]: spread(known),
      [`${name}, does not: 5, 25, 50, 75, 95 % in ms`]: spread(unknown),
      [`${name}: ratio of the medians, 95 % bounds`]: ratioBounds(known, unknown),
      [`${name}: the same of two that do not exist`]: ratioBounds(again, unknown),
    },
  };
}

async function wrongTokens({ facts }: Server, rounds: Rounds, signal: AbortSignal): Promise<Comparison> {
  const { baseUrl, accountId, apiKey } = facts;
  const url = `${baseUrl}/gateway/ng/api/settings?accountIdentifier=${accountId}`;
  const [kind, account, id] = apiKey.split(".");
  const attempt = (tokenId: string | undefined): Attempt => {
    const secret = randomBytes(32).toString("base64url");
    return { method: "GET", url, headers: { "x-api-key": [kind, account, tokenId, secret].join(".") }, status: 401 };
  };
  const unknownId = (): Attempt =>
    attempt(Buffer.from(randomUUIDv7().replaceAll("-", ""), "hex").toString("base64url"));
  const kinds = { known: () => attempt(id), unknown: unknownId, again: unknownId };
  return compareTimes("wrong token", await measureRefusals(kinds, rounds, signal));
}

async function wrongPasswords(
  { facts }: Server,
  database: DatabaseConnection,
  rounds: Rounds,
  signal: AbortSignal,
): Promise<Comparison> {
  const attempt = (email: string): Attempt => ({
    method: "POST",
    url: `${facts.baseUrl}/auth/login`,
    headers: { "content-type": "application/json", origin: facts.baseUrl },
    body: JSON.stringify({ email, password: randomBytes(12).toString("base64url") }),
    status: 401,
  });
  const unknownId = (): Attempt => attempt(`${randomBytes(6).toString("hex")}@railhead.local`);
  const kinds = { known: () => attempt("admin@railhead.local"), unknown: unknownId, again: unknownId };
  // Recorded failures delay later sign-ins, which would distort the times.
  const clearFailures = async (): Promise<void> => void (await database.query("delete from sign_in_failures"));
  return compareTimes("wrong password", await measureRefusals(kinds, rounds, signal, clearFailures));
}

/** Requests per second, and the processor time of the server's process for each, in ms. */
type Round = { readonly rate: number; readonly cpu: number };
type Pair = { readonly ours: Round; readonly open: Round };

const REPLACE_MODULES = {
  NODE_OPTIONS: `--import=${new URL("../unprotected/replace-modules.ts", import.meta.url).href}`,
};

const withBoth = <T>(signal: AbortSignal, work: (ours: Server, open: Server) => Promise<T>): Promise<T> =>
  withServer(signal, (ours) => withServer(signal, (open) => work(ours, open), REPLACE_MODULES));

/** Alternates between the servers, so that a slow moment of the machine affects both. */
async function costOf(
  { ours, open }: Readonly<Record<"ours" | "open", Server>>,
  { runs, pairs: measured, roundMs, warmUpMs }: Cost,
  signal: AbortSignal,
  progress: (text: string) => void,
): Promise<readonly Pair[]> {
  progress("storing executions");
  const load = startHelper("generator.ts");
  try {
    const subjects = [ours, open] as const;
    for (const server of subjects) await prepare(server, runs, signal);
    await checkAuthentication(ours, open);
    for (const server of subjects) await round(load, server, warmUpMs);
    const pairs: Pair[] = [];
    for (let n = 1; n <= measured; n += 1) {
      signal.throwIfAborted();
      progress(`executions, limit 1, pair ${n} of ${measured}`);
      // Each server is the first of its pair equally often.
      const odd = n % 2 === 1;
      const first = await round(load, odd ? ours : open, roundMs);
      const second = await round(load, odd ? open : ours, roundMs);
      pairs.push(odd ? { ours: first, open: second } : { ours: second, open: first });
    }
    return pairs;
  } finally {
    await load.stop();
  }
}

async function prepare(server: Server, runs: number, signal: AbortSignal): Promise<void> {
  const client = createClient(server.facts, 4, signal);
  await client.set({ requests_per_minute_account: UNREACHABLE_LIMIT, requests_per_minute_token: UNREACHABLE_LIMIT });
  await createProject(client);
  const pipeline = await createPipeline(client, "listed", 1, ":");
  for (let n = 0; n < runs; n += 1) await execute(client, pipeline);
  client.close();
  const database = await connectDatabase(await server.databaseUrl());
  await database.waitForEnded(runs, signal);
  await database.close();
}

const orderFor = ({ facts }: Server, milliseconds: number, token = facts.apiKey): LoadOrder => ({
  port: Number(new URL(facts.baseUrl).port),
  method: "POST",
  path: `/gateway/api/graphql?accountId=${facts.accountId}`,
  headers: { "x-api-key": token, "content-type": "application/json" },
  body: JSON.stringify({
    query: "{ executions(limit: 1) { nodes { id application { name } status startedAt endedAt } } }",
  }),
  connections: CONNECTIONS,
  milliseconds,
});

async function round(load: Helper, server: Server, milliseconds: number): Promise<Round> {
  const before = cpuSecondsOf(server.pid);
  const { error, body, perSecond, requests } = await load.ask<LoadAnswer>(orderFor(server, milliseconds));
  if (error !== null) throw new Error(error);
  const { data } = JSON.parse(body) as { data: { executions: { nodes: readonly unknown[] } } };
  if (data.executions.nodes.length !== 1) throw new Error(`unexpected answer: ${body.slice(0, 300)}`);
  return { rate: perSecond, cpu: ((cpuSecondsOf(server.pid) - before) * 1_000) / requests };
}

/** Throws unless a wrong token gets 401 from the product and 200 from the unprotected server. */
async function checkAuthentication(ours: Server, open: Server): Promise<void> {
  for (const [server, wanted] of [
    [ours, 401],
    [open, 200],
  ] as const) {
    const { facts } = server;
    const token = `${facts.apiKey.slice(0, facts.apiKey.lastIndexOf("."))}.wrong`;
    const { method, path, headers, body } = orderFor(server, 0, token);
    const { status } = await fetch(`${facts.baseUrl}${path}`, { method, headers, body });
    if (status !== wanted) throw new Error(`a wrong token got ${status} instead of ${wanted}`);
  }
}

function costFigures(pairs: readonly Pair[]): readonly Figure[] {
  const of = (what: keyof Round) => ({
    value: median(pairs.map(({ ours }) => ours[what])),
    floor: median(pairs.map(({ open }) => open[what])),
    ratio: median(pairs.map(({ ours, open }) => ours[what] / open[what])),
  });
  return [
    { name: "executions, limit 1", ...of("rate"), unit: "/s", goal: { of: "ratio", atLeast: 0.95 } },
    { name: "executions, limit 1: processor time per request", ...of("cpu"), unit: "ms" },
  ];
}
