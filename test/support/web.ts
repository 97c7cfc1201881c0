/**
 * The web interface for browser tests: a platform that serves it, a signed-in Chromium, and what the browser complained
 * about. Time passes by itself, because pages compare the server's times with the browser's.
 */
import assert from "node:assert/strict";
import { AxeBuilder } from "@axe-core/playwright";
import type { Locator, Page } from "playwright-core";
import type { Delegate } from "../../delegate/delegate.ts";
import { createPlace } from "../../delegate/testing/kit.ts";
import { prepareWeb } from "../../web/build/prepare.ts";
import { startTestPlatform, type HandClock, type PlatformOptions, type TestPlatform } from "./platform.ts";
import { startRealDelegate } from "./real-delegate.ts";
import { findChromium, startChromium, type Chromium } from "./services/chromium.ts";
import { ADMIN, createSession, setUserPassword } from "./sessions.ts";

const found = await findChromium();
/** For `test(name, { skip }, …)`: the reason if there is no browser. */
export const skip = "missing" in found ? found.missing : false;

export type WebTest = {
  readonly platform: TestPlatform;
  readonly browser: Chromium;
  readonly page: Page;
  /** Errors of scripts and of the policy, and failed requests, since the last call. */
  readonly complaints: () => readonly string[];
  /** Opens a path and waits for its heading of level 1. */
  readonly open: (path: string, heading: string | RegExp) => Promise<void>;
  /** Signs the browser in as this user. */
  readonly signIn: (email?: string) => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** A clock that shows the real time, and jumps when told. */
function runningClock(): HandClock {
  let added = 0;
  return {
    now: () => Date.now() + added,
    elapsed: () => performance.now() + added,
    advance: (ms) => void (added += ms),
  };
}

type WebOptions = PlatformOptions & {
  /** Connects a delegate with the tag `real`, and runs the background jobs. */
  readonly delegate?: boolean;
};

/** Call it only if `skip` is false. Signed in as the administrator, whose password is `PASSWORD`. */
export async function startWeb({ delegate = false, ...options }: WebOptions = {}): Promise<WebTest> {
  if ("missing" in found) throw new Error(found.missing);
  const platform = await startTestPlatform({
    clock: runningClock(),
    webFolder: prepareWeb({ info: () => {} }),
    ...options,
  });
  await setUserPassword(platform);
  const jobs = delegate ? platform.platform.startJobs() : undefined;
  const runner = delegate ? await connectDelegate(platform) : undefined;
  const browser = await startChromium(found.path);
  const heard: string[] = [];
  browser.page.on("console", (message) => void (message.type() === "error" && heard.push(message.text())));
  browser.page.on("pageerror", (error) => void heard.push(error.message));
  const signIn = async (email = ADMIN): Promise<void> => {
    const { headers } = await createSession(platform, email);
    const [name = "", value = ""] = headers.cookie.split("=");
    await browser.context.addCookies([{ name, value, url: platform.url, httpOnly: true, sameSite: "Strict" }]);
  };
  await signIn();
  return {
    platform,
    browser,
    page: browser.page,
    complaints: () => heard.splice(0),
    signIn,
    open: async (path, heading) => {
      await browser.page.goto(`${platform.url}${path}`);
      await browser.page.getByRole("heading", { name: heading, level: 1 }).waitFor();
    },
    stop: async () => {
      await browser.close();
      await runner?.stop();
      await jobs?.stop();
      await platform.stop();
    },
  };
}

async function connectDelegate(platform: TestPlatform): Promise<{ readonly stop: () => Promise<void> }> {
  const place = createPlace();
  const delegate: Delegate = await startRealDelegate(platform, place);
  return {
    stop: async () => {
      await delegate.stop();
      place.remove();
    },
  };
}

/** Checks the page as it is, in light and in dark colours. */
export async function assertAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const { violations } = await new AxeBuilder({ page })
      .withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"])
      .analyze();
    const told = violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary ?? ""}`),
    );
    assert.deepEqual(told, [], `${page.url()} in ${colorScheme} colours`);
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
}

/** Checks that a narrow screen needs no scrolling to the side. */
export async function assertFitsNarrow(page: Page): Promise<void> {
  const size = page.viewportSize();
  await page.setViewportSize({ width: 360, height: 740 });
  const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
  assert.ok(wide <= 360, `${page.url()} is ${wide} px wide at 360 px`);
  if (size) await page.setViewportSize(size);
}

/** Replaces the whole text of an editor, as by pasting. */
export async function replaceText(editor: Locator, text: string): Promise<void> {
  await editor.click();
  await editor.page().keyboard.press("Control+a");
  await editor.page().keyboard.insertText(text);
}
