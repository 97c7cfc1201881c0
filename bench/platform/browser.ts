/** Chromium with a session of the administrator. */
import { chromium, type BrowserContext } from "playwright-core";
import { findChromium } from "../../test/support/services/chromium.ts";
import { createSession, setUserPassword } from "../../test/support/sessions.ts";
import { connectDatabase } from "./database.ts";
import type { Server } from "./server.ts";

export type Browser = {
  /** A new profile, with nothing in its cache. */
  readonly newContext: () => Promise<BrowserContext>;
  readonly close: () => Promise<void>;
};

/** @throws Error if there is no Chromium and it cannot be installed */
export async function startBrowser({ facts, databaseUrl }: Pick<Server, "facts" | "databaseUrl">): Promise<Browser> {
  const found = await findChromium();
  if ("missing" in found) throw new Error(found.missing);
  const database = await connectDatabase(await databaseUrl());
  const where = { db: database, accountId: facts.accountId, clock: { now: Date.now } };
  await setUserPassword(where);
  const [name = "", value = ""] = (await createSession(where)).headers.cookie.split("=");
  await database.close();
  const browser = await chromium.launch({
    executablePath: found.path,
    // Chromium's sandbox refuses to run as root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: ["--disable-gpu", "--enable-precise-memory-info"],
  });
  return {
    newContext: async () => {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
      await context.addCookies([{ name, value, url: facts.baseUrl, httpOnly: true, sameSite: "Strict" }]);
      return context;
    },
    close: () => browser.close(),
  };
}
