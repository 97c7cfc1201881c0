/**
 * A log of ten million lines: reading a thousand lines by their numbers at its beginning, in its middle and at its end,
 * searching it for a text that it does not contain, and counting its lines as if an older server had written it. Then
 * appending output, beside the statement that does not count lines.
 */
import { Client } from "pg";
import { appendLog } from "../../src/executions/index.ts";
import { openDb } from "../../src/platform/db/pool/pool.ts";
import { silentLog } from "../../test/support/database.ts";
import type { Db } from "../../src/platform/db/db.ts";
import { createClient, type Client as HttpClient } from "../platform/client.ts";
import { createPipeline, createProject, execute } from "../platform/pipelines.ts";
import { cpuSecondsOf } from "../platform/processes.ts";
import { withServer, type Facts } from "../platform/server.ts";
import { chunkOf, forgetLines, lastStep, storeLog, type StoredLog } from "../platform/stored-logs.ts";
import { median, withRatio, type Bench, type Figure, type Sizes } from "../runner/result.ts";

const SIZES: Sizes<{ lines: number; reads: number; appends: number }> = {
  whole: { lines: 10_000_000, reads: 40, appends: 3_000 },
  brief: { lines: 20_000, reads: 3, appends: 20 },
};
const READ_LINES = 1_000;
/** The output of a step that writes a line from time to time. */
const SHORT_BYTES = 192;

export const logs: Bench = (signal, progress, size) =>
  withServer(
    signal,
    async (server) => {
      const { lines: most, reads, appends } = SIZES[size];
      const connectionString = await server.databaseUrl();
      const client = createClient(server.facts, 1, signal);
      const database = new Client({ connectionString });
      await database.connect();
      await createProject(client);
      await createPipeline(client, "one_step", 1, ":");
      await execute(client, "one_step");
      const log = await lastStep(database);
      progress("storing the log");
      const lines = await storeLog(database, log, most, signal);
      const viewer = createViewer(client, server.facts, log, signal);
      progress("reading lines");
      const ranges = await measureRanges(viewer, lines, reads);
      progress("searching");
      const search = await measureSearch(viewer);
      await forgetLines(database, log);
      progress("counting lines");
      const counted = await viewer.seconds(() => viewer.lines(`from=${lines - READ_LINES}&limit=${READ_LINES}`));
      progress("appending");
      await execute(client, "one_step");
      const own = await lastStep(database);
      await execute(client, "one_step");
      const floor = await lastStep(database);
      // With one connection, one backend process does all the work.
      const db = openDb({ connection: connectionString, max: 1, log: silentLog, onError: () => {} });
      const short = await measureAppends(db, { own, floor }, chunkOf(0).subarray(0, SHORT_BYTES), appends, signal);
      const long = await measureAppends(db, { own, floor }, chunkOf(0), Math.ceil(appends / 10), signal);
      await db.close();
      await database.end();
      client.close();
      return {
        definition: `Reading ${READ_LINES} lines of a log; floor: its first lines. Searching; floor: downloading. Appending; floor: without counting lines.`,
        parameters: { lines, reads, appends },
        figures: [
          ...ranges,
          ...search.figures,
          withRatio({ name: "first lines of an uncounted log", value: counted, unit: "s", floor: search.download }),
          ...figuresOfAppends("192 B", short),
          ...figuresOfAppends("64 KiB", long),
        ],
      };
    },
    { RAILHEAD_LOCAL_DELEGATE: "off" },
  );

type Viewer = ReturnType<typeof createViewer>;

function createViewer(client: HttpClient, { baseUrl, accountId, apiKey }: Facts, log: StoredLog, signal: AbortSignal) {
  const path = `/pipeline/api/pipelines/execution/${log.execution}/logs`;
  const query = (more: string): string => `nodeExecutionId=${log.node}${more === "" ? "" : `&${more}`}`;
  const read = async <T>(what: string): Promise<T> => (JSON.parse(await client.text(what)) as { data: T }).data;

  return {
    seconds: async (work: () => Promise<unknown>): Promise<number> => {
      const from = performance.now();
      await work();
      return (performance.now() - from) / 1_000;
    },
    lines: (range: string) => read<{ lines: unknown[] }>(`${path}/lines?${query(range)}`),
    /** All of it, in as many requests as it takes; returns the bytes that were looked through. */
    search: async (text: string): Promise<number> => {
      for (let from = 0; ;) {
        const found = await read<{ next: number; more: boolean; hits: number[] }>(
          `${path}/search?${query(`text=${encodeURIComponent(text)}&from=${from}`)}`,
        );
        if (found.hits.length > 0) throw new Error(`the log contains ${text}`);
        if (!found.more) return found.next;
        from = found.next;
      }
    },
    /** Returns its bytes. */
    download: async (): Promise<number> => {
      const address = `${baseUrl}${path}?${query(`accountIdentifier=${accountId}`)}`;
      const answer = await fetch(address, { headers: { "x-api-key": apiKey }, signal });
      let bytes = 0;
      const parts: AsyncIterable<Uint8Array> | null = answer.body;
      if (parts) for await (const part of parts) bytes += part.length;
      return bytes;
    },
  };
}

async function measureRanges(viewer: Viewer, lines: number, reads: number): Promise<readonly Figure[]> {
  const ranges = {
    beginning: `from=1&limit=${READ_LINES}`,
    middle: `from=${Math.ceil(lines / 2)}&limit=${READ_LINES}`,
    end: `from=${lines - READ_LINES + 1}&limit=${READ_LINES}`,
    "last ones": `last=${READ_LINES}`,
  };
  const times = Object.entries(ranges).map(([name, range]) => ({ name, range, samples: [] as number[] }));
  for (let nth = 0; nth < reads; nth += 1)
    for (const { range, samples } of times) {
      const seconds = await viewer.seconds(async () => {
        const read = await viewer.lines(range);
        if (read.lines.length !== READ_LINES) throw new Error(`${read.lines.length} lines of ${range}`);
      });
      samples.push(seconds * 1_000);
    }
  const floor = median(times[0]?.samples ?? []);
  return times.map(({ name, samples }, at) =>
    withRatio({
      ...{ name: `lines: ${name}`, value: median(samples), unit: "ms", floor },
      ...(at === 0 ? {} : { goal: { of: "ratio", atMost: 1.5 } }),
    }),
  );
}

async function measureSearch(
  viewer: Viewer,
): Promise<{ readonly figures: readonly Figure[]; readonly download: number }> {
  let bytes = 0;
  const rate = (seconds: number): number => bytes / 1e6 / seconds;
  const download = await viewer.seconds(async () => (bytes = await viewer.download()));
  const search = await viewer.seconds(() => viewer.search("no such text"));
  const floor = rate(download);
  return {
    download,
    figures: [
      withRatio({
        ...{ name: "search", value: rate(search), unit: "MB/s", floor, goal: { of: "value", atLeast: 100 } },
      }),
    ],
  };
}

type Samples = { readonly times: number[]; cpu: number };
type Appends = Readonly<Record<"own" | "floor", Samples>>;

/** In turns: one append that counts lines, and one that does not. */
async function measureAppends(
  db: Db,
  logs: Readonly<Record<"own" | "floor", StoredLog>>,
  data: Buffer,
  count: number,
  signal: AbortSignal,
): Promise<Appends> {
  const [row] = await db.query<{ pid: number }>("select pg_backend_pid() as pid");
  const spent = (): number => cpuSecondsOf(row?.pid ?? 0) + process.cpuUsage().user / 1e6;
  const result: Appends = { own: { times: [], cpu: 0 }, floor: { times: [], cpu: 0 } };
  const append = {
    floor: () => db.transaction(({ query }) => appendWithoutLines(query, logs.floor, data)),
    own: () => {
      const { accountId, executionId, nodeId } = logs.own;
      return db.transaction((tx) => appendLog(tx, accountId, { executionId, nodeId, task: 1, at: 0 }, data));
    },
  };
  for (let nth = 0; nth < count; nth += 1) {
    signal.throwIfAborted();
    // Which one is the first of a turn alternates: the second one pays for the memory of the first.
    for (const which of nth % 2 === 0 ? (["floor", "own"] as const) : (["own", "floor"] as const)) {
      const [cpu, from] = [spent(), performance.now()];
      await append[which]();
      result[which].times.push(performance.now() - from);
      result[which].cpu += spent() - cpu;
    }
  }
  return result;
}

/** As `appendLog`, without the lines. */
const appendWithoutLines = (
  query: Db["query"],
  { accountId, executionId, nodeId }: StoredLog,
  data: Buffer,
): Promise<unknown> =>
  query(
    `with heads as (
       insert into log_streams (account_id, execution_id, stream_id, bytes) values ($1, $2, $2, $4), ($1, $2, $3, $4)
       on conflict (account_id, execution_id, stream_id) do update set bytes = log_streams.bytes + $4
       returning stream_id, bytes - $4 as begins)
     insert into log_chunks (account_id, execution_id, position, node_id, node_position, data, at, task)
     select $1, $2, whole.begins, $3, node.begins, $5, $6, $7
       from heads whole, heads node where whole.stream_id = $2 and node.stream_id = $3`,
    [accountId, executionId, nodeId, data.length, data, 0, 1],
  );

function figuresOfAppends(size: string, { own, floor }: Appends): readonly Figure[] {
  const goal = { of: "ratio", atMost: 1.1 } as const;
  const perAppend = ({ cpu, times }: Samples): number => (Math.max(0.005, cpu) / times.length) * 1_000;
  return [
    withRatio({ name: `append ${size}`, value: median(own.times), unit: "ms", floor: median(floor.times), goal }),
    withRatio({
      ...{ name: `append ${size}, processor`, unit: "ms" },
      ...{ value: perAppend(own), floor: perAppend(floor) },
    }),
  ];
}
