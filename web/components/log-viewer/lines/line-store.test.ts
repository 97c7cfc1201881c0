import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../../test/support/until.ts";
import { MOST_LINES } from "./held-lines.ts";
import { createLineStore } from "./line-store.ts";
import type { LineRange, LinesAnswer } from "./log-answers.ts";

/** A log in memory that answers as the API does. */
function createLog(totalLines: number) {
  const asked: LineRange[] = [];
  const log = {
    ...{ totalLines, complete: false, lastLine: "", mostInAnswer: 5_000, asked },
    refuses: false,
    read: (range: LineRange): Promise<LinesAnswer> => {
      asked.push(range);
      if (log.refuses) return Promise.reject(new TypeError("no connection"));
      const from = "last" in range ? Math.max(1, log.totalLines - range.last + 1) : range.from;
      const limit = Math.min(log.mostInAnswer, "last" in range ? range.last : range.limit);
      const numbers = Array.from(
        { length: Math.max(0, Math.min(limit, log.totalLines - from + 1)) },
        (_, at) => from + at,
      );
      const lines = numbers.map((number) => ({
        ...{ number, time: null },
        text: number === log.totalLines && log.lastLine !== "" ? log.lastLine : `line ${number}`,
      }));
      return Promise.resolve({ lines, totalLines: log.totalLines, endOffset: 0, complete: log.complete });
    },
  };
  return log;
}

const span = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

test("what is wanted is read, and what is far from it is forgotten", async () => {
  const log = createLog(10_000_000);
  const store = createLineStore(log.read);
  store.open({ last: 200 });
  await until(() => store.size() !== undefined, Boolean);
  assert.equal(store.line(10_000_000)?.text, "line 10000000");
  for (let from = 1; from < 1_000_000; from += 40_000) {
    store.want(span(from, from + 60), false);
    await until(() => store.line(from + 60) !== undefined, Boolean);
    assert.ok(store.held() <= MOST_LINES + 500, `${store.held()} lines`);
  }
  assert.equal(store.line(1), undefined);
  // One request for each place.
  assert.equal(log.asked.length, 26);
});

test("an open last line is read again when the log has grown", async () => {
  const log = createLog(3);
  log.lastLine = "half";
  const store = createLineStore(log.read);
  store.open({ last: 200 });
  await until(() => store.line(3)?.text === "half", Boolean);
  store.want([1, 2, 3], true);
  log.lastLine = "half and all";
  store.grow();
  await until(() => store.line(3)?.text === "half and all", Boolean);
  log.lastLine = "";
  log.totalLines = 500;
  store.want([1, 2, 3], false);
  store.grow();
  await until(() => store.line(3)?.text === "line 3", Boolean);
  assert.equal(store.size()?.totalLines, 500);
});

test("a log that is complete is not asked again", async () => {
  const log = createLog(3);
  log.complete = true;
  const store = createLineStore(log.read);
  store.open({ last: 200 });
  await until(() => store.size()?.complete === true, Boolean);
  store.grow();
  assert.equal(log.asked.length, 1);
});

test("lines behind those of a short answer are asked for, and lines that never come only for a while", async () => {
  const log = createLog(1_000);
  log.mostInAnswer = 30;
  const store = createLineStore(log.read);
  store.open({ from: 1, limit: 200 });
  await until(() => store.size() !== undefined, Boolean);
  store.want(span(500, 560), false);
  await until(() => span(500, 560).every((number) => store.line(number) !== undefined), Boolean);
  log.mostInAnswer = 0;
  const before = log.asked.length;
  store.want(span(800, 860), false);
  await until(() => log.asked.length >= before + 2, Boolean);
  await new Promise(setImmediate);
  assert.equal(log.asked.length, before + 2);
});

test("after a failure it goes on when told", async () => {
  const log = createLog(10);
  log.refuses = true;
  const store = createLineStore(log.read);
  store.open({ last: 200 });
  await until(() => store.error() !== undefined, Boolean);
  store.want([1], false);
  log.refuses = false;
  assert.equal(store.size(), undefined);
  store.retry();
  await until(() => store.line(1) !== undefined, Boolean);
  assert.equal(store.error(), undefined);
});
