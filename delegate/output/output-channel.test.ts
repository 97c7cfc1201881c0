/** The masks of a task whose output cannot be completed. Full disks are tested in full-disk.test.ts. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createPlace, silentLog } from "../testing/kit.ts";
import { systemTimers } from "../timers.ts";
import { createMasking } from "./masking.ts";
import { openOutputChannel } from "./output-channel.ts";

test("the masks of a task whose output cannot be completed do not count after its end", async (t) => {
  const place = createPlace();
  t.after(place.remove);
  const masking = createMasking(10_000, 12_000);
  const secret = [Buffer.alloc(8_000, "secret ")];
  const channel = openOutputChannel(
    {
      log: silentLog(),
      intervals: { timers: systemTimers, flushMs: 1, pollMs: 1 },
      runtimeFolder: { removeSecretFiles: async () => {} },
      masking,
    },
    { lease: { task: "a", epoch: 1 }, folder: place.path, masks: secret, runner: { unrecorded: () => undefined } },
  );
  writeFileSync(join(place.path, "output"), "printed");
  mkdirSync(join(place.path, "masked"));
  await assert.rejects(channel.close(false), /EISDIR/);
  // The message of the failure is masked before the end.
  assert.notEqual(channel.stepMask.maskText("reason"), "(withheld)");
  assert.equal(masking.findRefusal(secret)?.until, "now");
  channel.stop();
  assert.equal(masking.findRefusal(secret), undefined);
});
