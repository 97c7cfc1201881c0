import assert from "node:assert/strict";
import { test } from "node:test";
import { newBudget } from "../budget.ts";
import { ExpressionError } from "../error.ts";
import type { Scope } from "../place.ts";
import { evaluateTemplate } from "../template.ts";
import { scopeOf } from "../testing/sample-scope.ts";

const NOON = Date.UTC(2024, 1, 29, 12, 5, 9);
const at = (now: number): Scope => ({ ...scopeOf({}), now });
const valueOf = (text: string, scope: Scope = at(NOON)): string => evaluateTemplate(`<+${text}>`, scope, newBudget());

test("dates are counted in UTC, across months, years and leap days", () => {
  const values: readonly (readonly [string, string])[] = [
    ["datetime.currentDate()", "2024-02-29"],
    ["datetime.currentDate", "2024-02-29"],
    ["datetime.currentTime()", "2024-02-29T12:05:09Z"],
    ["datetime.currentDate().plusDays(1)", "2024-03-01"],
    ["datetime.currentDate().plusDays('-60')", "2023-12-31"],
    ["datetime.currentDate().plusMonths(12)", "2025-02-28"],
    ["datetime.currentDate().plusYears(4)", "2028-02-29"],
    ["'2024-03-31'.plusMonths(-1)", "2024-02-29"],
    ["'2024-12-31'.plusMonths(2)", "2025-02-28"],
    ["datetime.currentTime().plusHours(12)", "2024-03-01T00:05:09Z"],
    ["datetime.currentTime().plusMinutes(55).plusDays(-1)", "2024-02-28T13:00:09Z"],
    ["datetime.currentTime().plusMonths(1)", "2024-03-29T12:05:09Z"],
    ["datetime.currentTime() > '2024-02-29'", "true"],
  ];
  for (const [text, value] of values) assert.equal(valueOf(text), value, text);
});

test("formats", () => {
  const values: readonly (readonly [string, string])[] = [
    ["datetime.currentTime().format('yyyyMMdd-HHmmss')", "20240229-120509"],
    ["datetime.currentTime().format('d.M.yy h:mm a')", "29.2.24 12:05 PM"],
    ["'2024-01-02T00:00:00Z'.format('h a EEE EEEE MMM MMMM X')", "12 AM Tue Tuesday Jan January Z"],
    ["'2024-01-02'.format(\"uuuu 'week of' ''dd''\")", "2024 week of '02'"],
    ["'2024-01-02'.format('')", ""],
  ];
  for (const [text, value] of values) assert.equal(valueOf(text), value, text);
});

test("what is no date, or has no meaning, is refused", () => {
  const refusals: readonly (readonly [string, RegExp])[] = [
    ["'2024-02-30'.plusDays(1)", /needs a date such as/],
    ["'2024-2-3'.plusDays(1)", /needs a date such as/],
    ["'2024-01-01T25:00:00Z'.plusDays(1)", /needs a date such as/],
    ["'2024-01-01T10:00:00+02:00'.plusDays(1)", /needs a date such as/],
    ["'9999-12-31'.plusDays(1)", /leaves the years 1 to 9999/],
    ["'2024-01-01'.plusDays(1.5)", /a whole number/],
    ["'2024-01-01'.plusDays(99999999)", /a whole number from/],
    ["'2024-01-01'.plusHours(1)", /needs a time, not a date/],
    ["'2024-01-01'.format('HH')", /finds no time for 'HH' in a date/],
    ["'2024-01-01'.format('yyyyy')", /does not know 'yyyyy'/],
    ["'2024-01-01'.format('dd of')", /does not know 'o'/],
    ["'2024-01-01'.format(\"yyyy '\")", /a quote without its partner/],
  ];
  for (const [text, message] of refusals) {
    assert.throws(
      () => valueOf(text),
      (error) => error instanceof ExpressionError && message.test(error.message),
      text,
    );
  }
});

test("without a time of its own a scope has that of the execution's start, or none", () => {
  assert.equal(valueOf("datetime.currentDate()", scopeOf({ pipeline: { startTs: NOON } })), "2024-02-29");
  assert.throws(() => valueOf("datetime.currentDate()", scopeOf({})), /there is no time here/);
});
