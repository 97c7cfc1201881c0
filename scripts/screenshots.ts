/**
 * `npm run screenshots` starts a platform with the examples, runs some of them, and writes docs/images/: the main pages
 * of the web interface, light and dark. It needs Chromium, and removes everything else at the end.
 */
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { startServer, type Facts } from "./demo/server.ts";
import { loadExample } from "./example/load.ts";
import { root } from "./lib/files.ts";
import { startRuns } from "./screenshots/runs.ts";

const FOLDER = join(root, "docs/images");
const PROJECT = "/projects/default/quickstart";
/** Pixels of the browser's window; the pictures have as many. */
const SIZE = { width: 1280, height: 800 } as const;
const EXAMPLES = ["quickstart", "flow", "approval", "matrix"];
const PASSWORD = "seven grey herons at dusk";
const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "railhead-screenshots-"));
  // Database and steps may run as other users, which need access to their subfolders.
  await chmod(folder, 0o711);
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
  const server = await startServer(folder, interrupted.signal);
  let browser: Browser | undefined;
  try {
    for (const name of EXAMPLES) await loadExample(server.facts, name);
    const runs = await startRuns(server.facts, interrupted.signal);
    browser = await chromium.launch({ executablePath: CHROMIUM, chromiumSandbox: process.getuid?.() !== 0 });
    const page = await browser.newPage({ viewport: SIZE, reducedMotion: "reduce" });
    await signIn(page, server.facts);
    await mkdir(FOLDER, { recursive: true });
    for (const { name, path, ready } of [
      { name: "overview", path: PROJECT, ready: "Delivery" },
      { name: "executions", path: `${PROJECT}/executions`, ready: "Executions" },
      { name: "execution", path: `${PROJECT}/executions/${runs.flow}`, ready: /#1/ },
      { name: "pipeline", path: `${PROJECT}/pipelines/flow_of_a_release/edit`, ready: /flow/i },
      { name: "delegates", path: "/account/delegates", ready: "Delegates" },
    ])
      await take(page, { name, url: `${server.facts.baseUrl}${path}`, ready });
  } finally {
    await browser?.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function signIn(page: Page, { baseUrl, adminEmail, adminPassword }: Facts): Promise<void> {
  await page.goto(`${baseUrl}/login`);
  await page.getByLabel("E-mail").fill(adminEmail);
  await page.getByLabel("Password", { exact: true }).fill(adminPassword);
  await page.getByLabel("Password", { exact: true }).press("Enter");
  await page.getByLabel("Current password").fill(adminPassword);
  await page.getByLabel("New password", { exact: true }).fill(PASSWORD);
  await page.getByLabel("New password, again").fill(PASSWORD);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByRole("heading", { level: 1 }).filter({ hasNotText: "Choose" }).waitFor();
}

type Picture = { readonly name: string; readonly url: string; readonly ready: string | RegExp };

async function take(page: Page, { name, url, ready }: Picture): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto(url);
    await page.getByRole("heading", { name: ready }).first().waitFor();
    await page.waitForLoadState("networkidle", { timeout: 3_000 }).catch(() => {});
    await page.screenshot({ path: join(FOLDER, `${name}-${colorScheme}.png`) });
    process.stdout.write(`docs/images/${name}-${colorScheme}.png\n`);
  }
}

await main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
