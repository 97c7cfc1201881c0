/** The level that the operator asks for holds for every part. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { recordedLog } from "../../../test/support/watch.ts";
import { createFormRooms } from "../http/request/form.ts";
import { createOpenAnswers } from "../http/response/open-answers.ts";
import { createHttp } from "../http/server.ts";
import { createLog } from "./log.ts";

/** What the HTTP part says of one line at each level. */
async function heard(level: string): Promise<string> {
  const log = recordedLog();
  const { app } = await createHttp({
    trustedProxies: [],
    log: createLog(level, log.stream),
    authenticate: async () => undefined,
    watch: () => () => undefined,
    checkBeforeCommit: () => async () => undefined,
    explain: () => undefined,
    count: () => undefined,
    now: () => 0,
    openAnswers: createOpenAnswers(() => 0),
    maxFrame: 1024,
    forms: createFormRooms(1024),
    stopping: new AbortController().signal,
  });
  for (const word of ["debug", "info", "warn", "error", "fatal"] as const) app.log[word](`said at ${word}`);
  await app.close();
  return ["debug", "info", "warn", "error", "fatal"].filter((word) => log.count(`said at ${word}"`) === 1).join(" ");
}

const levels: readonly (readonly [level: string, http: string])[] = [
  ["trace", "warn error fatal"],
  ["info", "warn error fatal"],
  ["warn", "warn error fatal"],
  ["error", "error fatal"],
  ["silent", ""],
];
for (const [level, expected] of levels) {
  test(`at ${level} HTTP says: ${expected || "nothing"}`, async () => {
    assert.equal(await heard(level), expected);
  });
}
