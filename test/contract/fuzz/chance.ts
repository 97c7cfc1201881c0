/**
 * Choices of one generated request. All come from fast-check, so that a seed repeats them and a failure can be made
 * smaller.
 */
import fc from "fast-check";

export type Chance = {
  /** Returns a number from 0 to max, both included. */
  readonly upTo: (max: number) => number;
  readonly pick: <T>(from: readonly T[]) => T;
  /** True in `percent` of 100 cases. False is the simpler value. */
  readonly often: (percent: number) => boolean;
  readonly some: <T>(from: readonly T[], percent: number) => readonly T[];
};

/** No preference for small numbers, so that `often` has the right frequency. */
const below = (max: number): fc.Arbitrary<number> => fc.noBias(fc.nat(max));

export function chanceFrom(draw: fc.GeneratorValue): Chance {
  const upTo = (max: number): number => (max <= 0 ? 0 : draw(below, max));
  const often = (percent: number): boolean => upTo(99) >= 100 - percent;
  return {
    upTo,
    often,
    pick: (from) => from[upTo(from.length - 1)] as (typeof from)[number],
    some: (from, percent) => from.filter(() => often(percent)),
  };
}

const LONG = [129, 257, 1_025, 70_000].map((length) => "x".repeat(length));

/** Unusual text for any text parameter. */
export const RUBBISH_TEXT: readonly string[] = [
  "",
  " ",
  "\0",
  "a\0b",
  "\ud800",
  "\udfff\ud800",
  "__proto__",
  "constructor",
  "toString",
  "../../etc/passwd",
  ".",
  "..",
  "%00",
  "%",
  "_",
  "\\",
  "'; drop table projects; --",
  "<+input>",
  "<+input>.executionInput()",
  "<+pipeline.name>",
  "<+secrets.getValue('nope')>",
  "<+",
  "account.registry",
  "org.registry",
  "\u202eabc",
  "e\u0301",
  "\u0130\u0131",
  "\u{1f4a5}".repeat(64),
  "null",
  "true",
  "-1",
  "0x10",
  "1e9",
  "NaN",
  "99999999999999999999",
  "9223372036854775808",
  "2147483648",
  "2026-02-30",
  "line\r\nset-cookie: a=b",
  "AAAAAAAAAAAAAAAAAAAAAA",
  "AAAAAAAAAAAAAAAAAAAAAB",
  "00000000-0000-0000-0000-000000000000",
  "http://[::1",
  "data:text/html,x",
  "(a+)+$",
  "*",
  "&a",
  "!!binary",
  ...LONG,
];

/** Limits of number ranges. */
const NUMBERS: readonly number[] = [
  0,
  -1,
  1,
  0.5,
  100,
  101,
  1_000,
  10_000,
  32_767,
  65_536,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53 - 1,
  2 ** 53,
  8.64e15,
  8.64e15 + 2,
  1e21,
  1e308,
  5e-324,
];

export const rubbishText = (c: Chance): string => c.pick(RUBBISH_TEXT);
export const rubbishNumber = (c: Chance): number => c.pick(NUMBERS);

const OTHERS: readonly unknown[] = [null, true, false, [], {}, [null], [[]], { "": "" }, [{}], { a: { b: {} } }];

/** Returns a value of any kind. */
export function rubbish(c: Chance): unknown {
  switch (c.upTo(3)) {
    case 0:
      return c.pick(OTHERS);
    case 1:
      return rubbishNumber(c);
    case 2:
      return c.often(20) ? nested(c.pick([10, 70, 200])) : rubbishText(c);
    default:
      return rubbishText(c);
  }
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let at = 0; at < depth; at += 1) value = at % 2 === 0 ? [value] : { a: value };
  return value;
}
