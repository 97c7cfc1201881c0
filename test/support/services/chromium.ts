/**
 * A real browser for tests: Debian's Chromium, driven by playwright-core. Root on Debian installs Chromium if it is
 * missing; other users skip the tests that need it.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { chromium, type BrowserContext, type Page } from "playwright-core";

const run = promisify(execFile);

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const INSTALL_MS = 300_000;
/** No first-run page, no account, no update and no requests of the browser itself. */
const FLAGS = [
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export type Chromium = {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Addresses of all requests of pages, in order. */
  readonly requested: readonly string[];
  readonly close: () => Promise<void>;
};

/** Returns the path of the program, or the reason to skip the test. Throws if the installation failed. */
export async function findChromium(): Promise<{ readonly path: string } | { readonly missing: string }> {
  const found = place();
  if (found) return { path: found };
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get"))
    return { missing: `no Chromium at ${PLACES.join(", ")}; install it, as with: apt-get install chromium` };
  const options = { timeout: INSTALL_MS, env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } };
  const wait = ["-o", "DPkg::Lock::Timeout=240", "-qq"];
  await run("apt-get", [...wait, "update"], options);
  await run("apt-get", [...wait, "install", "-y", "--no-install-recommends", "chromium"], options);
  const path = place();
  if (!path) throw new Error("apt-get has installed chromium, but there is no program.");
  return { path };
}

const place = (): string | undefined => PLACES.find((path) => existsSync(path));

export async function startChromium(path: string): Promise<Chromium> {
  const profile = await mkdtemp(join(tmpdir(), "railhead-test-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: path,
    headless: true,
    // Chromium's sandbox refuses to run as root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: FLAGS,
  });
  const requested: string[] = [];
  context.on("request", (request) => requested.push(request.url()));
  const close = async (): Promise<void> => {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  };
  return { context, page: context.pages()[0] ?? (await context.newPage()), requested, close };
}
