/** One run: starts everything, sends load and applies faults, waits until the system has settled, and checks. */
import { writeFileSync, chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import type { Uuid } from "../../src/core/ids.ts";
import { applyFault } from "./apply.ts";
import { checkAccepted, checkExecution, checkFinal } from "./check.ts";
import { openLocks, openRows, readExecutions, refusedDeliveries } from "./facts.ts";
import {
  escapesOf,
  escapeViolations,
  memoryFolders,
  readStarts,
  stepProcesses,
  taskFolders,
  watchEscapes,
} from "./leftovers.ts";
import { startLoad, USUAL_WEIGHTS, type Load, type Request } from "./load.ts";
import { DELEGATES, LINKS, SERVERS } from "./names.ts";
import type { ChaosOptions } from "./options.ts";
import { documentOf, makeKinds, SECRET_NAME, SECRET_VALUE, type Kind, type KindPlan } from "./pipelines.ts";
import { describe, makePlan } from "./plan.ts";
import { PLANTS } from "./plants.ts";
import { makeRandom } from "./random.ts";
import { startTimeline } from "./timeline.ts";
import { violation, type Violation } from "./violation.ts";
import { readEnds, startWatch } from "./watch.ts";
import { SLOTS, startWorld, type World, type WorldOptions } from "./world.ts";

/** Beyond the minute after which a lost delegate's steps end, with what the servers need to notice. */
const SETTLE_MS = 150_000;
const MAX_TRIES = 10;
const SLOTS_MS = 30_000;
const FORGET_MS = 20_000;
const BACK_MS = 60_000;
const LOOK_MS = 500;

export type RunOptions = Pick<ChaosOptions, "seed" | "seconds" | "rate" | "plant"> & {
  readonly folder: string;
  readonly say: (line: string) => void;
} & Pick<WorldOptions, "onStop" | "signal">;

export type Result = {
  readonly violations: readonly Violation[];
  readonly executions: number;
  readonly steps: number;
  readonly bytes: number;
  readonly faults: number;
};

export async function runChaos(options: RunOptions): Promise<Result> {
  const { folder, plant, say, signal, onStop } = options;
  const world = await startWorld({ folder, plant, onStop, signal });
  const random = makeRandom(options.seed);
  const faults = plant
    ? PLANTS[plant].faults
    : makePlan({ seconds: options.seconds, random, canMount: world.hasSmallDisk });
  if (!world.hasSmallDisk) say("The full disk is left out: mounting a file system for it takes root.");
  say(`The plan has ${faults.length} faults:`);
  for (const fault of faults) say(`  ${time(fault.at)} ${describe(fault)}`);

  const places = {
    starts: join(world.exchange, "starts"),
    escapes: join(world.exchange, "escapes"),
    gate: join(world.exchange, "gate"),
  };
  writeFileSync(places.starts, "");
  chmodSync(places.starts, 0o666);
  mkdirSync(places.escapes);
  chmodSync(places.escapes, 0o777);
  const kinds = makeKinds(places);
  const webhook = await prepare(world, kinds);

  const timeline = startTimeline();
  const watch = startWatch(world, timeline);
  onStop(() => watch.stop());
  const weights = plant ? PLANTS[plant].weights : USUAL_WEIGHTS;
  const load = startLoad({ world, random, timeline, rate: options.rate, webhook, weights });
  onStop(() => load.stop());
  const escapes = watchEscapes(places.escapes);
  const violations: Violation[] = [];

  const over = new AbortController();
  const applied = faults.map(async (fault) => {
    await rest(fault.at * 1_000, undefined, { signal: over.signal }).catch(() => {});
    if (over.signal.aborted) return;
    say(`${time(timeline.now() / 1_000)} ${describe(fault)}`);
    await applyFault(world, timeline, fault, over.signal);
  });
  const stopFaults = async (): Promise<void> => {
    over.abort();
    await Promise.all(applied);
  };
  onStop(stopFaults);
  await tellMinutes(options.seconds, signal, () =>
    say(`${time(timeline.now() / 1_000)} ${countsOf(load, watch.counts())}`),
  );
  signal.throwIfAborted();
  await stopFaults();
  await load.stop();
  say(`${time(timeline.now() / 1_000)} no more faults; waiting until the system has settled`);
  for (const name of LINKS) world.links.get(name)?.set("pass");

  for (const name of SERVERS)
    await world.machines
      .get(name)
      ?.untilSaid(/^Railhead is ready\.$/m, BACK_MS)
      .catch((error: unknown) => violations.push(violation("crashes", name, String(error), "a server that is ready")));
  await settled(world, signal);
  violations.push(...(await checkSlots(load, places)));
  await settled(world, signal);
  await watch.look();
  await watch.stop();

  violations.push(...escapeViolations(await escapes.living(escapesOf(load.requests))));
  const workDirs = DELEGATES.map(world.workDir);
  await until(async () => taskFolders(workDirs).length === 0, FORGET_MS, signal);
  violations.push(
    ...stepProcesses(workDirs).map((what) => violation("processes", "the delegates", what)),
    ...taskFolders(workDirs).map((what) => violation("folders", "the delegates", what)),
    ...(await openRows(world.db)).map((what) => violation("rows", "the database", what)),
    ...(await openLocks(world.db)).map((what) => violation("locks", "the database", what)),
    ...(await refusedDeliveries(world.db)).map((what) => violation("accepted", "a webhook", what, "an execution")),
    ...load.refusals.map((what) => violation("refusals", "a client", what)),
  );

  const evidence = {
    kinds,
    requests: new Map(load.requests.map((request): [number, Request] => [request.number, request])),
    outages: timeline.outages(),
    ends: watch.ends,
    starts: readStarts(places.starts),
  };
  const found = new Map<number, number>();
  let [executions, steps, bytes] = [0, 0, 0];
  const ids: Uuid[] = [];
  for await (const execution of readExecutions(world.db)) {
    executions += 1;
    ids.push(execution.id);
    steps += execution.steps.filter(({ state }) => state !== undefined).length;
    bytes += execution.steps.reduce((sum, { log }) => sum + log.length, 0);
    if (execution.number !== undefined) found.set(execution.number, (found.get(execution.number) ?? 0) + 1);
    violations.push(...checkExecution(execution, evidence));
  }
  violations.push(...checkAccepted(load.requests, found), ...checkFinal(watch.ends, await readEnds(world.db, ids)));
  for (const { id, before, after } of watch.changes)
    violations.push(violation("final", `execution ${id}`, after, before));

  await world.stopMachines();
  for (const what of memoryFolders(workDirs)) violations.push(violation("folders", "a delegate that has ended", what));
  for (const machine of world.machines.values())
    for (const crash of machine.crashes) violations.push(violation("crashes", machine.name, crash));
  return { violations, executions, steps, bytes, faults: faults.length };
}

/** Everything that the load names. Answers the address of the webhook. */
async function prepare(world: World, kinds: Readonly<Record<Kind, KindPlan>>): Promise<string> {
  const api = world.api(SERVERS[0]);
  await api.createProject();
  await api.createSecret(SECRET_NAME, SECRET_VALUE);
  for (const [kind, plan] of Object.entries(kinds))
    if (kind !== "slots") await api.createPipeline(documentOf(kind, plan, kind === "hook"));
  for (const name of DELEGATES) {
    const steps = kinds.slots.steps.map((step) => ({ ...step, selectors: [name] }));
    await api.createPipeline(documentOf(slotsPipeline(name), { ...kinds.slots, steps }, false));
  }
  return api.createWebhook("hook");
}

const slotsPipeline = (delegate: string): string => `slots_${delegate.replace("-", "_")}`;

/** As many steps as a delegate has slots run on it at the same time. */
async function checkSlots(
  load: Load,
  { starts, gate }: { readonly starts: string; readonly gate: string },
): Promise<readonly Violation[]> {
  const wanted = DELEGATES.flatMap((name) => Array.from({ length: SLOTS }, () => name));
  const sent = await Promise.all(wanted.map((name) => sendUntilAcknowledged(load, name)));
  const runningOn = (name: string): number => {
    const started = readStarts(starts);
    return sent.filter(({ number, delegate }) => delegate === name && started.has(`${number} slot`)).length;
  };
  await until(async () => DELEGATES.every((name) => runningOn(name) === SLOTS), SLOTS_MS);
  const missing = DELEGATES.filter((name) => runningOn(name) < SLOTS).map((name) =>
    violation("slots", name, `${runningOn(name)} at the same time`, `${SLOTS} steps at the same time`),
  );
  writeFileSync(gate, "");
  return missing;
}

async function sendUntilAcknowledged(load: Load, delegate: string): Promise<Request> {
  for (let tries = 1; ; tries += 1) {
    const request = await load.send("slots", slotsPipeline(delegate), delegate);
    if (request.acknowledged || tries === MAX_TRIES) return request;
  }
}

/** Waits until nothing is open any more; what still is then is found by the checks. */
async function settled(world: World, signal: AbortSignal): Promise<void> {
  const isSettled = async (): Promise<boolean> => {
    const [row] = await world.db.query<{ open: number }>(
      `select (select count(*) from executions where ended_at is null)
            + (select count(*) from tasks where status <> 'finished')
            + (select count(*) from webhook_deliveries where processed_at is null) as open`,
    );
    return row?.open === 0;
  };
  await until(() => isSettled().catch(() => false), SETTLE_MS, signal);
}

async function until(isSo: () => Promise<boolean>, ms: number, signal?: AbortSignal): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end && !signal?.aborted; await rest(LOOK_MS))
    if (await isSo()) return;
}

async function tellMinutes(seconds: number, signal: AbortSignal, tell: () => void): Promise<void> {
  for (let left = seconds; left > 0 && !signal.aborted; left -= 60) {
    await rest(Math.min(left, 60) * 1_000, undefined, { signal }).catch(() => {});
    tell();
  }
}

function countsOf(load: Load, states: Readonly<Record<string, number>>): string {
  const { sent, acknowledged } = load.count();
  const text = Object.entries(states).map(([status, count]) => `${count} ${status}`);
  return `${sent} requests, ${acknowledged} acknowledged; executions: ${text.join(", ")}`;
}

export const time = (seconds: number): string => `${String(Math.round(seconds)).padStart(5)} s`;
