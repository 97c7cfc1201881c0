import assert from "node:assert/strict";
import { test } from "node:test";
import { readText } from "../../../scripts/lib/files.ts";
import { assertNoViolations } from "../lib/violations.ts";
import { wordViolations } from "../lib/words.ts";

test("committed text has no words of one machine or of unfinished work", () => {
  assertNoViolations(wordViolations(readText()));
});

const machine = { checkout: "/srv/build/railhead", home: "/var/lib/ada" };

// In two parts, so that this file does not contain the planted words.
const join = (first: string, second: string): string => first + second;
const planted: readonly (readonly [name: string, line: string])[] = [
  ["home folder", join('const dir = "/ho', 'me/ada/data";')],
  ["home folder", join("cat /ro", "ot/.profile")],
  ["place of this checkout", `cd ${machine.checkout}`],
  ["home folder", `cp x ${machine.home}/`],
  ["package host", join("https://registry.np", "mjs.org/zod")],
  ["package host", join("deb http://deb.deb", "ian.org/debian bookworm main")],
  ["document outside of the repository", join("// as sp", "ec.md has it")],
  ["document outside of the repository", join("/** Filters (reference sec", "tions 1.3 and 1.8). */")],
  ["unfinished work", join("// TO", "DO: later")],
  ["switched-off check", join("// @ts-", "ignore")],
  ["switched-off check", join("// oxlint-", "disable no-console")],
  ["switched-off check", join("// oxlint-", "disable-next-line no-console")],
];
for (const [name, line] of planted) {
  test(`planted: a ${name}`, () => {
    const found = wordViolations(new Map([["src/x.ts", `\n${line}\n`]]), machine).map(
      ({ key, message }) => `${key} ${message}`,
    );
    assert.ok(
      found.some((it) => it.startsWith(`src/x.ts: ${name} src/x.ts:2 `)),
      found.join("\n"),
    );
  });
}

test("ordinary text passes", () => {
  const text = [
    "const url = `${base}/home/page`;",
    'get("/users/list")',
    "data lies under /var/lib/railhead/",
    join("// oxlint-", "disable-next-line no-console -- the first-start facts go to the terminal"),
  ].join("\n");
  assert.deepEqual(wordViolations(new Map([["src/x.ts", text]]), machine), []);
});
