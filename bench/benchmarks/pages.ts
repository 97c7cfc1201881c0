/**
 * Pages of the web interface in Chromium: the first view and the list of executions, each in a new profile, from the
 * navigation until its heading or its first row is in the page; then, in an open list, the next page and a filter. First
 * with few executions stored, then with a million. Beside it the size of the scripts that the first view loads.
 */
import { once } from "node:events";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "pg";
import type { Page } from "playwright-core";
import { startBrowser, type Browser } from "../platform/browser.ts";
import { withServer, type Server } from "../platform/server.ts";
import { prepareStored } from "../platform/stored-executions.ts";
import { runTemplates } from "../platform/template-runs.ts";
import { median, withRatio, type Bench, type Figure, type Sizes } from "../runner/result.ts";

const SIZES: Sizes<{ stored: readonly [few: number, many: number]; samples: number }> = {
  whole: { stored: [10_000, 1_000_000], samples: 9 },
  brief: { stored: [1_000, 2_000], samples: 1 },
};
const COLD_MS = 1_000;
const SCRIPT_KB = 200;
/** What the list may cost more with a million executions. */
const MANY_RATIO = 1.5;

/** Medians in milliseconds, and kilobytes. */
type Measured = Readonly<Record<"bare" | "view" | "rows" | "next" | "filtered" | "script", number>>;

export const pages: Bench = (signal, progress, size) =>
  withServer(signal, async (server) => {
    const { stored: counts, samples } = SIZES[size];
    const client = new Client({ connectionString: await server.databaseUrl() });
    await client.connect();
    progress("running the executions to copy");
    await runTemplates(server, client, signal);
    const stored = await prepareStored(client);
    const browser = await startBrowser(server);
    const bare = await startBarePage();
    try {
      const measured: Measured[] = [];
      for (const count of counts) {
        progress(`storing ${count} executions`);
        await stored.fill(count, signal);
        progress(`${count} stored`);
        const places = { view: server.facts.baseUrl, list: await listOf(server, client, stored.pipelineId) };
        measured.push(await measureAll(browser, { ...places, bare: urlOf(bare) }, samples, signal));
      }
      const [few, many] = measured;
      if (few === undefined || many === undefined) throw new Error("two numbers of executions are measured");
      return {
        definition:
          "From the navigation to the heading or the first row, in a new profile of Chromium; floor: a page with a heading. " +
          `Of the list at ${counts[1]} executions, the same at ${counts[0]}.`,
        parameters: { stored: counts, samples },
        figures: figuresOf(few, many),
      };
    } finally {
      await browser.close();
      bare.close();
      await client.end();
    }
  });

function figuresOf(few: Measured, many: Measured): readonly Figure[] {
  const cold = { unit: "ms", floor: few.bare, goal: { of: "value", atMost: COLD_MS } } as const;
  const grown = { unit: "ms", goal: { of: "ratio", atMost: MANY_RATIO } } as const;
  return [
    {
      name: "scripts of the first view, compressed",
      value: few.script,
      unit: "kB",
      goal: { of: "value", atMost: SCRIPT_KB },
    },
    withRatio({ name: "first view, cold", value: few.view, ...cold }),
    withRatio({ name: "first row of the list, cold", value: few.rows, ...cold }),
    withRatio({ name: "first row of the list, cold, at many", value: many.rows, floor: few.rows, ...grown }),
    withRatio({ name: "next page of the list, at many", value: many.next, floor: few.next, ...grown }),
    withRatio({ name: "list with a filter, at many", value: many.filtered, floor: few.filtered, ...grown }),
  ];
}

type Places = { readonly view: string; readonly list: string; readonly bare: string };

async function measureAll(browser: Browser, places: Places, samples: number, signal: AbortSignal): Promise<Measured> {
  const rounds: Measured[] = [];
  // The first round warms the server up.
  for (let round = 0; round <= samples; round += 1) {
    signal.throwIfAborted();
    const bare = await coldly(browser, (page) => timeOf(page, () => page.goto(places.bare), "h1"));
    const view = await coldly(browser, async (page) => ({
      ms: await timeOf(page, () => page.goto(places.view), "h1"),
      script: await scriptKilobytes(page),
    }));
    const list = await coldly(browser, (page) => measureList(page, places.list));
    if (round > 0) rounds.push({ bare, view: view.ms, script: view.script, ...list });
  }
  const of = (key: keyof Measured): number => median(rounds.map((round) => round[key]));
  return {
    ...{ bare: of("bare"), view: of("view"), script: of("script") },
    ...{ rows: of("rows"), next: of("next"), filtered: of("filtered") },
  };
}

async function measureList(page: Page, url: string): Promise<Pick<Measured, "rows" | "next" | "filtered">> {
  const row = "main tbody a[href*='/executions/']";
  const rows = await timeOf(page, () => page.goto(url), row);
  const first = await page.locator(row).first().getAttribute("href");
  const otherRow = `main tbody tr:first-child a[href*="/executions/"]:not([href="${first}"])`;
  const next = await timeOf(page, () => page.getByRole("button", { name: "Older" }).click(), otherRow);
  const filtered = await timeOf(page, () => page.goto(`${url}?status=Failed`), row);
  return { rows, next, filtered };
}

/** Milliseconds from the beginning of the action until the element is in the page. */
async function timeOf(page: Page, act: () => Promise<unknown>, selector: string): Promise<number> {
  const from = performance.now();
  const [at] = await Promise.all([page.waitForSelector(selector).then(() => performance.now()), act()]);
  return at - from;
}

async function coldly<T>(browser: Browser, work: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext();
  try {
    return await work(await context.newPage());
  } finally {
    await context.close();
  }
}

/** What the page has loaded of scripts so far, compressed as they are sent. */
const scriptKilobytes = async (page: Page): Promise<number> =>
  (await page.evaluate<number>(
    `performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".js")).reduce((sum, one) => sum + one.encodedBodySize, 0)`,
  )) / 1_000;

async function listOf({ facts }: Server, client: Client, pipelineId: string): Promise<string> {
  const { rows } = await client.query<{ identifier: string }>(
    "select j.identifier from pipelines p join projects j on j.id = p.project_id where p.id = $1",
    [pipelineId],
  );
  return `${facts.baseUrl}/projects/default/${rows[0]?.identifier}/executions`;
}

async function startBarePage(): Promise<HttpServer> {
  const server = createServer((_, response) =>
    response.setHeader("content-type", "text/html").end("<!doctype html><title>Bare</title><h1>Bare</h1>"),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

const urlOf = (server: HttpServer): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
