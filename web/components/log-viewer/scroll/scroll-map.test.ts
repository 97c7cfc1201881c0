import assert from "node:assert/strict";
import { test } from "node:test";
import { contentHeight, isEnd, isToScale, MOST_PIXELS, rowAt, scrollTopOf } from "./scroll-map.ts";

const small = { rows: 1_000, rowHeight: 20, viewHeight: 600 };
const huge = { rows: 10_000_000, rowHeight: 20, viewHeight: 600 };

test("a pixel is a pixel while the content is not too high", () => {
  assert.ok(isToScale(small));
  assert.equal(contentHeight(small), 20_000);
  assert.equal(scrollTopOf(10.5, small), 210);
  assert.equal(rowAt(210, small), 10.5);
});

test("each row of a huge log is reached, and the content stays below the limit", () => {
  assert.ok(!isToScale(huge));
  assert.equal(contentHeight(huge), MOST_PIXELS);
  for (const row of [0, 1, 4_999_999, 9_999_969])
    assert.ok(Math.abs(rowAt(scrollTopOf(row, huge), huge) - row) < 1e-3, `row ${row}`);
  assert.equal(scrollTopOf(huge.rows - 30, huge), MOST_PIXELS - 600);
  assert.equal(rowAt(MOST_PIXELS - 600, huge), huge.rows - 30);
});

test("content that fits does not scroll", () => {
  const fits = { rows: 10, rowHeight: 20, viewHeight: 600 };
  assert.deepEqual([contentHeight(fits), scrollTopOf(5, fits), rowAt(50, fits), isEnd(0, fits)], [600, 0, 0, true]);
});

test("the end is where nothing is below", () => {
  assert.ok(isEnd(19_400, small));
  assert.ok(!isEnd(19_380, small));
});
