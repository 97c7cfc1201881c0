/**
 * The time from the start of the process until /health/ready answers 200, on an empty data directory (the server
 * creates the database) and on a used one. Then the memory of server and local delegate after ten idle seconds, without
 * PostgreSQL. The goal applies to RSS, which counts shared pages twice; PSS divides them.
 */
import { setTimeout as rest } from "node:timers/promises";
import { memoryOf } from "../platform/processes.ts";
import { median, type Bench, type Sizes } from "../runner/result.ts";
import { startServer, temporaryFolder, type Server } from "../platform/server.ts";

const SIZES: Sizes<{ rounds: number; idleMs: number }> = {
  whole: { rounds: 3, idleMs: 10_000 },
  brief: { rounds: 1, idleMs: 1_000 },
};

const POLL_MS = 10;

export const start: Bench = async (signal, progress, size) => {
  const { rounds, idleMs } = SIZES[size];
  const first: number[] = [];
  const later: number[] = [];
  let memory = memoryFigures(Number.NaN, Number.NaN, Number.NaN, Number.NaN);
  for (let n = 1; n <= rounds; n += 1) {
    progress(`round ${n} of ${rounds}`);
    const folder = await temporaryFolder();
    try {
      first.push(await runOnce(folder.path, signal, ({ readyAfter }) => readyAfter));
      later.push(await runOnce(folder.path, signal, ({ readyAfter }) => readyAfter));
      if (n === rounds) memory = await runOnce(folder.path, signal, (server) => idleMemory(server, idleMs, signal));
    } finally {
      await folder.remove();
    }
  }
  return {
    definition: `From the start of the process to 200 from /health/ready (median); memory of server and delegate without PostgreSQL after ${idleMs / 1_000} s idle.`,
    parameters: { rounds, idleSeconds: idleMs / 1_000 },
    figures: [
      { name: "first start", value: median(first) / 1_000, unit: "s", goal: { of: "value", atMost: 5 } },
      { name: "later start", value: median(later) / 1_000, unit: "s", goal: { of: "value", atMost: 2 } },
      ...memory,
    ],
  };
};

async function runOnce<T>(folder: string, signal: AbortSignal, measure: (server: Server) => T): Promise<Awaited<T>> {
  const server = await startServer(folder, signal);
  try {
    return await measure(server);
  } finally {
    await server.stop();
  }
}

async function idleMemory({ pid, delegatePid }: Server, idleMs: number, signal: AbortSignal) {
  // The server is ready before its delegate has started.
  while (delegatePid() === undefined) await rest(POLL_MS, undefined, { signal });
  await rest(idleMs, undefined, { signal });
  const delegate = delegatePid();
  if (delegate === undefined) throw new Error("the local delegate has ended");
  const [server, local] = [memoryOf(pid), memoryOf(delegate)];
  return memoryFigures(server.rss, local.rss, server.pss, local.pss);
}

const memoryFigures = (serverRss: number, delegateRss: number, serverPss: number, delegatePss: number) =>
  [
    {
      name: "idle memory, both, RSS",
      value: serverRss + delegateRss,
      unit: "MiB",
      goal: { of: "value", atMost: 250 },
    },
    { name: "idle memory, both, PSS", value: serverPss + delegatePss, unit: "MiB" },
    { name: "server, RSS", value: serverRss, unit: "MiB" },
    { name: "server, PSS", value: serverPss, unit: "MiB" },
    { name: "delegate, RSS", value: delegateRss, unit: "MiB" },
    { name: "delegate, PSS", value: delegatePss, unit: "MiB" },
  ] as const;
