/**
 * The page of an execution in Chromium while its steps end, one after the other at a steady rate: how long the page took
 * for each of its frames. The floor is the same page just before, when nothing happens.
 */
import { setTimeout as rest } from "node:timers/promises";
import type { Page } from "playwright-core";
import { toWire } from "../../src/core/ids.ts";
import { createAdvance } from "../../src/executions/index.ts";
import type { Db } from "../../src/platform/db/db.ts";
import { openDb } from "../../src/platform/db/pool/pool.ts";
import { silentLog } from "../../test/support/database.ts";
import { startBrowser } from "../platform/browser.ts";
import { createClient } from "../platform/client.ts";
import { begin, endStep, type Advance, type LargeExecution } from "../platform/large-executions.ts";
import { createPipeline, createProject, execute } from "../platform/pipelines.ts";
import { withServer } from "../platform/server.ts";
import { percentile, withRatio, type Bench, type Sizes } from "../runner/result.ts";

type Extent = { readonly nodes: number; readonly perSecond: number; readonly seconds: number };

const SIZES: Sizes<Extent> = {
  whole: { nodes: 500, perSecond: 50, seconds: 8 },
  brief: { nodes: 30, perSecond: 20, seconds: 1 },
};
const LONGEST_MS = 50;

export const runPage: Bench = (signal, progress, size) =>
  withServer(
    signal,
    async (server) => {
      const extent = SIZES[size];
      const client = createClient(server.facts, 1, signal);
      await createProject(client);
      await execute(client, await createPipeline(client, "one_step", 1, ":"));
      client.close();
      const db = openDb({ connection: await server.databaseUrl(), max: 1, log: silentLog, onError: () => {} });
      const browser = await startBrowser(server);
      try {
        const advance = createAdvance();
        const execution = await begin(db, advance, extent.nodes);
        const page = await (await browser.newContext()).newPage();
        await page.goto(`${server.facts.baseUrl}/projects/default/bench/executions/${toWire(execution.id)}`);
        await page.getByRole("region", { name: "Graph of stages and steps" }).waitFor();
        await rest(1_000, undefined, { signal });
        progress("nothing happens");
        const idle = await framesDuring(page, () => rest(extent.seconds * 1_000, undefined, { signal }));
        progress("steps end");
        const busy = await framesDuring(page, () => endSteadily({ db, advance, execution }, extent, signal));
        await showsEnded(page, extent);
        return resultOf(idle, busy, extent);
      } finally {
        await browser.close();
        await db.close();
      }
    },
    { RAILHEAD_LOCAL_DELEGATE: "off" },
  );

type Ending = { readonly db: Db; readonly advance: Advance; readonly execution: LargeExecution };

async function endSteadily({ db, advance, execution }: Ending, extent: Extent, signal: AbortSignal): Promise<void> {
  const from = performance.now();
  for (let nth = 1; nth <= extent.perSecond * extent.seconds; nth += 1) {
    await rest(Math.max(0, from + (nth * 1_000) / extent.perSecond - performance.now()), undefined, { signal });
    await endStep(db, advance, execution);
  }
}

/** Milliseconds from each frame to the next one. */
async function framesDuring(page: Page, work: () => Promise<unknown>): Promise<readonly number[]> {
  await page.evaluate(`{
    globalThis.frames = [];
    globalThis.measuring = true;
    let last;
    const onFrame = (now) => {
      if (last !== undefined) globalThis.frames.push(now - last);
      last = now;
      if (globalThis.measuring) requestAnimationFrame(onFrame);
    };
    requestAnimationFrame(onFrame);
  }`);
  await work();
  return page.evaluate<readonly number[]>("globalThis.measuring = false, globalThis.frames");
}

/** The page has followed: as many steps as were ended are shown so. */
async function showsEnded(page: Page, { perSecond, seconds }: Extent): Promise<void> {
  const ended = page.locator("main li").getByRole("img", { name: "Success" });
  await ended.nth(perSecond * seconds - 1).waitFor({ state: "attached" });
}

function resultOf(idle: readonly number[], busy: readonly number[], { nodes, perSecond, seconds }: Extent) {
  const frames = (share: number) => ({ value: percentile(busy, share), floor: percentile(idle, share) });
  return {
    definition: `Time between two frames of the page of an execution of ${nodes} nodes, of which ${perSecond} end a second; floor: nothing happens.`,
    parameters: { nodes, "events a second": perSecond, seconds, frames: busy.length, "frames, idle": idle.length },
    figures: [
      withRatio({ name: "frame, median", unit: "ms", ...frames(0.5) }),
      withRatio({ name: "frame, 99th percentile", unit: "ms", ...frames(0.99) }),
      withRatio({ name: "frame, longest", unit: "ms", goal: { of: "value", atMost: LONGEST_MS }, ...frames(1) }),
    ],
  } as const;
}
