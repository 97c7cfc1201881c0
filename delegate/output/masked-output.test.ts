import assert from "node:assert/strict";
import { appendFileSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { MAX_CHUNK } from "../../protocol/messages.ts";
import { createMasking } from "./masking.ts";
import type { Output } from "./masked-output.ts";
import { createPlace } from "../testing/kit.ts";
import { mkdirSync } from "node:fs";

const place = createPlace();
after(place.remove);
let made = 0;

/** A folder of a task, time moved by hand, and the output as each next delegate would make it. */
function begin() {
  made += 1;
  const folder = join(place.path, String(made));
  mkdirSync(folder);
  const clock = { at: 1_000, wall: 0, waiting: new Map<object, { readonly due: number; readonly run: () => void }>() };
  const timers = {
    // Set back by a second at each look.
    now: () => (clock.wall -= 1_000),
    elapsed: () => clock.at,
    after: (ms: number, run: () => void) => {
      const key = {};
      clock.waiting.set(key, { due: clock.at + ms, run });
      return () => void clock.waiting.delete(key);
    },
  };
  const state = { isTorn: false };
  const open = (): Output => {
    clock.waiting.clear();
    const output: Output = createMasking()
      .createStepMask([Buffer.from("correct horse")])
      .createOutput(folder, {
        timers,
        changed: () => output.advance(),
        isTorn: () => state.isTorn,
      });
    return output;
  };
  return {
    open,
    tear: () => {
      state.isTorn = true;
    },
    print: (text: string) => appendFileSync(join(folder, "output"), text),
    shown: () => readFileSync(join(folder, "masked"), "utf8"),
    cutTo: (length: number) => truncateSync(join(folder, "masked"), length),
    cutProgressTo: (length: number) => truncateSync(join(folder, "masked-to"), length),
    add: (text: string) => appendFileSync(join(folder, "masked"), text),
    pass: (ms: number) => {
      clock.at += ms;
      for (const [key, { due, run }] of clock.waiting)
        if (due <= clock.at) {
          clock.waiting.delete(key);
          run();
        }
    },
  };
}

test("a short beginning goes out after 100 ms and not before, a longer one waits for what follows", async () => {
  const { open, print, shown, pass } = begin();
  const output = open();
  print("login: cor");
  output.advance();
  pass(99);
  assert.equal(shown(), "login: ");
  pass(1);
  assert.equal(shown(), "login: cor");
  print("rect ho");
  output.advance();
  pass(60_000);
  assert.equal(shown(), "login: cor");
  print("rse!");
  output.advance();
  assert.equal(shown(), "login: cor**************!");
  print("\ntail corr");
  await output.finish();
  assert.equal(shown(), "login: cor**************!\ntail corr");
});

test("however often something new comes, no beginning waits longer than 100 ms", () => {
  const { open, print, shown, pass } = begin();
  const output = open();
  print("c");
  output.advance();
  for (let round = 0; round < 4; round += 1) {
    pass(24);
    print("xc");
    output.advance();
  }
  pass(4);
  assert.match(shown(), /^cxcxcxcx/);
});

test("the next delegate continues at any place where the last one stopped", async () => {
  const text = "one correct horse two corr three correct\n horse four";
  for (let stop = 0; stop <= text.length; stop += 1) {
    const { open, print, shown, add } = begin();
    const first = open();
    print(text.slice(0, stop));
    first.advance();
    first.stop();
    // Written and not noted: it was never sent.
    add("correct horse");
    const second = open();
    print(text.slice(stop));
    second.advance();
    await second.finish();
    assert.equal(shown(), "one ************** two corr three ************** four", `stopped at ${stop}`);
  }
});

test("a progress that a full disk has cut off counts as none", async () => {
  for (let length = 0; length < 33; length += 1) {
    const { open, print, shown, cutProgressTo } = begin();
    const first = open();
    print("one correct horse two, and more than ten bytes\n");
    first.advance();
    first.stop();
    cutProgressTo(length);
    await open().finish();
    assert.equal(shown(), "one ************** two, and more than ten bytes\n", `${length} bytes of the progress`);
  }
});

const CUT = "railhead: The output of this step exceeded 64 KiB. The rest is not in the log.\n";

test("a secret that is cut off before the line about the limit is masked, at any place in a read", async () => {
  for (let before = MAX_CHUNK - 2 * CUT.length; before <= MAX_CHUNK + CUT.length; before += 1) {
    const { open, print, shown } = begin();
    const filling = "x".repeat(before - 11);
    print(`${filling}correct hor${CUT}${CUT}end${"y".repeat(100)}`);
    await open().finish();
    const left = shown().slice(filling.length);
    assert.equal(left, `**************${CUT}${CUT}end${"y".repeat(100)}`, `${before} bytes before it`);
  }
});

test("no beginning of a secret is shown at the end of an output that was cut", async () => {
  const value = "correct horse";
  for (let length = 1; length < value.length; length += 1) {
    const { open, print, shown, pass, tear } = begin();
    const output = open();
    print(`tail ${value.slice(0, length)}`);
    tear();
    output.advance();
    pass(100);
    assert.equal(shown(), "tail ", `${length} letters, while the step continues`);
    await output.finish();
    assert.equal(shown(), "tail **************", `${length} letters`);
    const limited = begin();
    limited.print(`tail ${value.slice(0, length)}\n${CUT}`);
    await limited.open().finish();
    assert.match(limited.shown(), /^tail \*{14}\n?railhead: The output [^*]+$/, `${length} letters at the limit`);
  }
});

test("a step that prints the line about a cut output very often has its output read once", async () => {
  const { open, print, shown } = begin();
  const text = `correct hor${CUT}`.repeat(5_000);
  print(text);
  const before = bytesRead();
  await open().finish();
  assert.ok(bytesRead() - before < 10 * text.length, `${bytesRead() - before} bytes read of ${text.length}`);
  // After a thousand such lines one more does not count as the end of what the step has printed.
  assert.equal(shown().split("***********railhead").length, 1_001);
});

/** By this process, from files and all else. */
const bytesRead = (): number => Number(/^rchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
