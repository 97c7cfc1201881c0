/** One run: starts everything, sends load, applies faults, waits until the system has settled, and checks. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import { fromWire } from "../../src/core/ids.ts";
import { applyFault } from "./faults/apply.ts";
import { escapeViolations, watchEscapes } from "./checks/leftovers.ts";
import { startLoad, USUAL_WEIGHTS, type Load } from "./load/load.ts";
import { DELEGATES, LINKS, SERVERS } from "./names.ts";
import type { ChaosOptions } from "./options.ts";
import { APPROVERS } from "./load/flows.ts";
import type { Kinds, Places } from "./load/kinds.ts";
import { documentOf, createKinds, SECRET_NAME, SECRET_VALUE } from "./load/pipelines.ts";
import { describeFault, createPlan, type Fault } from "./faults/plan.ts";
import { PLANTS } from "./faults/plants.ts";
import { createRandom } from "./random.ts";
import { checkSlots, waitForServers, waitUntilSettled, slotsPipeline } from "./checks/settle.ts";
import { startTimeline, type Timeline } from "./timeline.ts";
import { verify, type Verified } from "./checks/verify.ts";
import type { Violation } from "./checks/violation.ts";
import { startWatch, type Watch } from "./checks/watch.ts";
import { startWorld, type World, type WorldOptions } from "./platform/world.ts";

const ESCAPES_EVERY_MS = 20_000;

export type RunOptions = Pick<ChaosOptions, "seed" | "seconds" | "rate" | "plant"> & {
  readonly folder: string;
  readonly say: (line: string) => void;
} & Pick<WorldOptions, "onStop" | "signal">;

export type Result = Verified & { readonly faults: number };

/** @throws the error that prevents the start of the platform, and the reason of `signal` */
export async function runChaos(options: RunOptions): Promise<Result> {
  const { plant, seconds, say, signal, onStop } = options;
  const world = await startWorld(options);
  const random = createRandom(options.seed);
  const faults = plant ? PLANTS[plant].faults : createPlan({ seconds, random, canMount: world.hasSmallDisk });
  if (!world.hasSmallDisk) say("The full disk is left out: mounting a file system for it takes root.");
  say(`The plan has ${faults.length} faults:`);
  for (const fault of faults) say(`  ${time(fault.at)} ${describeFault(fault)}`);
  const places = makePlaces(world.exchange);
  const kinds = createKinds(places);
  const { webhook, approvers } = await prepare(world, kinds);

  const timeline = startTimeline();
  const watch = startWatch(world, timeline);
  onStop(() => watch.stop());
  const weights = plant ? PLANTS[plant].weights : USUAL_WEIGHTS;
  const load = startLoad({ world, random, timeline, rate: options.rate, webhook, weights, kinds, approvers });
  onStop(() => load.stop());
  const escapes = watchEscapes(places.escapes);
  const applied = applyFaults(world, timeline, faults, say);
  onStop(applied.stop);
  const found: Violation[] = [];
  const tellMinute = (): void => say(`${time(timeline.now() / 1_000)} ${countsOf(load, watch)}`);
  await Promise.all([
    every(60_000, seconds, signal, tellMinute),
    every(ESCAPES_EVERY_MS, seconds, signal, async () => {
      found.push(...escapeViolations(await escapes.living(succeeded(load, watch))));
    }),
  ]);
  await applied.stop();
  await load.stop();
  signal.throwIfAborted();
  say(`${time(timeline.now() / 1_000)} no more faults; waiting until the system has settled`);
  for (const name of LINKS) world.links.get(name)?.set("pass");

  found.push(...(await waitForServers(world)));
  await waitUntilSettled(world, signal);
  found.push(...(await checkSlots(load, places)));
  await waitUntilSettled(world, signal);
  signal.throwIfAborted();
  await watch.look();
  await watch.stop();
  const verified = await verify({ world, load, watch, timeline, escapes, kinds, places });
  return { ...verified, violations: [...found, ...verified.violations], faults: faults.length };
}

function makePlaces(exchange: string): Places {
  const at = (name: string): string => join(exchange, name);
  const places = { starts: at("starts"), escapes: at("escapes"), barrier: at("barrier") };
  writeFileSync(places.starts, "");
  chmodSync(places.starts, 0o666);
  mkdirSync(places.escapes);
  chmodSync(places.escapes, 0o777);
  return places;
}

/** Creates all resources of the load. Returns the address of the webhook, and the tokens of the approvers. */
async function prepare(
  world: World,
  kinds: Kinds,
): Promise<{ readonly webhook: string; readonly approvers: readonly string[] }> {
  const api = world.api(SERVERS[0]);
  const approvers: string[] = [];
  await api.createProject();
  await api.createSecret(SECRET_NAME, SECRET_VALUE);
  for (const { chained } of Object.values(kinds)) if (chained) await api.createPipeline(chained);
  for (const [kind, plan] of Object.entries(kinds))
    if (kind !== "slots") await api.createPipeline(documentOf(kind, plan, kind === "hook"));
  for (const name of DELEGATES) {
    const steps = kinds.slots.steps.map((step) => ({ ...step, selectors: [name] }));
    await api.createPipeline(documentOf(slotsPipeline(name), { ...kinds.slots, steps }, false));
  }
  for (const name of APPROVERS) approvers.push(await api.createServiceAccount(name));
  return { webhook: await api.createWebhook("hook"), approvers };
}

function applyFaults(
  world: World,
  timeline: Timeline,
  faults: readonly Fault[],
  say: RunOptions["say"],
): { readonly stop: () => Promise<void> } {
  const over = new AbortController();
  const applied = faults.map(async (fault) => {
    await rest(fault.at * 1_000, undefined, { signal: over.signal }).catch(() => {});
    if (over.signal.aborted) return;
    say(`${time(timeline.now() / 1_000)} ${describeFault(fault)}`);
    await applyFault(world, timeline, fault, over.signal);
  });
  return {
    stop: async () => {
      over.abort();
      await Promise.all(applied);
    },
  };
}

/** Calls `work` at each interval and at the end, until `seconds` are over. */
async function every(ms: number, seconds: number, signal: AbortSignal, work: () => unknown): Promise<void> {
  for (let left = seconds * 1_000; left > 0 && !signal.aborted; left -= ms) {
    await rest(Math.min(left, ms), undefined, { signal }).catch(() => {});
    await work();
  }
}

/** Returns requests of executions that have succeeded. Their processes must have ended by then. */
function succeeded({ requests }: Load, { ends }: Watch): readonly number[] {
  return requests.flatMap(({ kind, number, execution }) => {
    const id = kind === "escape" && execution !== undefined ? fromWire(execution) : undefined;
    return id !== undefined && ends.get(id)?.status === "succeeded" ? [number] : [];
  });
}

function countsOf(load: Load, watch: Watch): string {
  const { sent, acknowledged } = load.count();
  const text = Object.entries(watch.counts()).map(([status, count]) => `${count} ${status}`);
  return `${sent} requests, ${acknowledged} acknowledged; executions: ${text.join(", ")}`;
}

const time = (seconds: number): string => `${String(Math.round(seconds)).padStart(5)} s`;
