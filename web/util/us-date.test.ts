import assert from "node:assert/strict";
import { test } from "node:test";
import { formatUsDate, parseUsDate } from "./us-date.ts";

test("a date is written with the month first", () => {
  assert.equal(formatUsDate(Date.UTC(2026, 2, 4, 23, 59)), "03/04/2026");
});

test("the end of the day counts; what is no date is refused", () => {
  assert.equal(parseUsDate(" 03/04/2026 "), Date.UTC(2026, 2, 5) - 1);
  for (const text of ["", "3/4/2026", "13/01/2026", "02/30/2026", "2026-03-04"])
    assert.equal(parseUsDate(text), undefined);
});
