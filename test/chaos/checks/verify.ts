/** All checks after the system has settled: of the database, the machine and the responses to clients. */
import { toWire, type Uuid } from "../../../src/core/ids.ts";
import { checkAccepted, checkExecution, checkFinal, nameOf, type Evidence } from "./check.ts";
import { openLocks, openRows, readExecutions, refusedDeliveries, type ExecutionFacts } from "./facts.ts";
import {
  escapesOf,
  escapeViolations,
  memoryFolders,
  readStarts,
  stepProcesses,
  taskFolders,
  type Escapes,
} from "./leftovers.ts";
import type { Load, Request } from "../load/load.ts";
import { DELEGATES, SERVERS } from "../names.ts";
import type { Places } from "../load/kinds.ts";
import { checkHolders, holderOf, type Holder } from "./flow.ts";
import { waitUntil } from "./settle.ts";
import type { Timeline } from "../timeline.ts";
import { violation, type Check, type Violation } from "./violation.ts";
import { readEnds, type Watch } from "./watch.ts";
import type { World } from "../platform/world.ts";

/** Time from the end of the last execution until delegates have removed its tasks. */
const FORGET_MS = 20_000;
/** One of this number of executions is also downloaded by a client. */
const DOWNLOADED = 5;

export type Verified = {
  readonly violations: readonly Violation[];
  readonly executions: number;
  readonly steps: number;
  readonly bytes: number;
};

type Parts = {
  readonly world: World;
  readonly load: Load;
  readonly watch: Watch;
  readonly timeline: Timeline;
  readonly escapes: Escapes;
  readonly kinds: Evidence["kinds"];
  readonly places: Places;
};

/** Stops servers and delegates, and then checks what they leave. */
export async function verify(parts: Parts): Promise<Verified> {
  const { world, load, watch, escapes } = parts;
  const { db } = world;
  const of = (check: Check, what: string, texts: readonly string[]): readonly Violation[] =>
    texts.map((text) => violation(check, what, text));
  const workDirs = DELEGATES.map(world.workDir);
  const living = await escapes.living(escapesOf(load.requests));
  await waitUntil(() => taskFolders(workDirs).length === 0, FORGET_MS);
  const state = [
    ...escapeViolations(living),
    ...of("processes", "the delegates", stepProcesses(workDirs)),
    ...of("folders", "the delegates", taskFolders(workDirs)),
    ...of("rows", "the database", await openRows(db)),
    ...of("locks", "the database", await openLocks(db)),
    ...of("accepted", "a webhook", await refusedDeliveries(db)),
    ...of("refusals", "a client", load.refusals),
    ...watch.changes.map(({ id, before, after }) => violation("final", `execution ${toWire(id)}`, after, before)),
  ];
  const executions = await verifyExecutions(parts);
  await world.stopMachines();
  const ended = [
    ...of("folders", "a delegate that has ended", memoryFolders(workDirs)),
    ...[...world.machines.values()].flatMap(({ name, crashes }) => of("crashes", name, crashes)),
  ];
  return { ...executions, violations: [...state, ...executions.violations, ...ended] };
}

async function verifyExecutions({ world, load, watch, timeline, kinds, places }: Parts): Promise<Verified> {
  const evidence = {
    kinds,
    requests: new Map(load.requests.map((request): [number, Request] => [request.number, request])),
    outages: timeline.outages(),
    ends: watch.ends,
    starts: readStarts(places.starts),
  };
  const found: Violation[] = [];
  const counts = new Map<number, number>();
  const ids: Uuid[] = [];
  const holders: Holder[] = [];
  let [steps, bytes] = [0, 0];
  for await (const execution of readExecutions(world.db)) {
    const { id, number, log } = execution;
    ids.push(id);
    steps += execution.steps.filter(({ state }) => state !== undefined).length;
    bytes += log.length;
    if (number !== undefined) counts.set(number, (counts.get(number) ?? 0) + 1);
    found.push(...checkExecution(execution, evidence));
    const holder = holderOf(nameOf(execution), execution.nodes);
    if (holder) holders.push(holder);
    if (ids.length % DOWNLOADED === 0) found.push(...(await checkDownload(world, execution, ids.length)));
  }
  found.push(
    ...checkHolders(holders),
    ...checkAccepted(load.requests, counts),
    ...checkFinal(watch.ends, await readEnds(world.db, ids)),
  );
  return { violations: found, executions: ids.length, steps, bytes };
}

/** Checks that a client gets the stored log. */
async function checkDownload({ api }: World, execution: ExecutionFacts, n: number): Promise<readonly Violation[]> {
  const text = await api(SERVERS[n % SERVERS.length] ?? SERVERS[0], true)
    .log(toWire(execution.id))
    .catch((error: unknown) => String(error));
  if (text === execution.log.toString()) return [];
  const expected = `a download of ${execution.log.length} bytes`;
  return [violation("log", nameOf(execution), `${Buffer.byteLength(text)} bytes: ${text.slice(0, 100)}`, expected)];
}
