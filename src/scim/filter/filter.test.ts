/** The grammar of filters and paths (RFC 7644 sections 3.4.2.2 and 3.5.2). */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseFilter, parsePath } from "./parse.ts";
import type { Filter } from "./syntax.ts";

/** The tree as text with all parentheses. */
function shown(filter: Filter): string {
  const path = (one: { schema?: string; name: string; sub?: string }): string =>
    [one.schema && `${one.schema}:`, one.name, one.sub && `.${one.sub}`].filter(Boolean).join("");
  switch (filter.kind) {
    case "and":
    case "or":
      return `(${shown(filter.left)} ${filter.kind} ${shown(filter.right)})`;
    case "not":
      return `not ${shown(filter.of)}`;
    case "present":
      return `${path(filter.path)} pr`;
    case "compare":
      return `${path(filter.path)} ${filter.by} ${JSON.stringify(filter.value)}`;
    case "some":
      return `${path(filter.path)}[${shown(filter.of)}]`;
  }
}
const reads = (text: string, as: string): void => assert.equal(shown(parseFilter(text)), as, text);

test("every operator and every kind of value, names and operators in any case", () => {
  for (const by of ["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"])
    reads(`userName ${by.toUpperCase()} "x"`, `userName ${by} "x"`);
  for (const value of ['"a \\"b\\" \\u0041"', "true", "false", "null", "0", "-1.5", "2e3"])
    reads(`a eq ${value}`, `a eq ${JSON.stringify(JSON.parse(value))}`);
  reads("title PR", "title pr");
  reads('name.familyName co "O\'Malley"', 'name.familyName co "O\'Malley"');
  reads("a eq TRUE", "a eq true");
});

test("not binds closer than and, and closer than or; parentheses override both", () => {
  reads("a pr or b pr and c pr", "(a pr or (b pr and c pr))");
  reads("(a pr or b pr) and c pr", "((a pr or b pr) and c pr)");
  reads("not (a pr) and b pr", "(not a pr and b pr)");
  reads('not(a pr or b eq "x") and not (c pr)', '(not (a pr or b eq "x") and not c pr)');
  reads("a pr AND b pr OR NOT (c pr)", "((a pr and b pr) or not c pr)");
});

test("value paths, URNs, and Entra's syntax for addresses", () => {
  reads('emails[type eq "work" and value co "@example.com"]', 'emails[(type eq "work" and value co "@example.com")]');
  reads('emails[type eq "work"].value eq "x"', 'emails[(type eq "work" and value eq "x")]');
  const urn = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
  reads(`${urn}:department eq "R&D"`, `${urn}:department eq "R&D"`);
  reads(`${urn}:manager.displayName sw "A"`, `${urn}:manager.displayName sw "A"`);
  assert.deepEqual(parsePath('members[value eq "x"]').attribute, { name: "members" });
  assert.equal(parsePath('emails[type eq "work"].value').sub, "value");
  assert.deepEqual(parsePath("name.givenName"), { attribute: { name: "name", sub: "givenName" } });
  assert.deepEqual(parsePath(`${urn}:manager`), { attribute: { schema: urn, name: "manager" } });
});

test("an invalid filter is refused as invalidFilter and causes no failure", () => {
  for (const text of [
    "",
    "userName",
    "userName eq",
    "eq eq",
    'userName = "x"',
    'userName eq "x',
    "userName eq 'x'",
    "userName eq x",
    'userName eq "x" and',
    'and userName eq "x"',
    '(userName eq "x"',
    'userName eq "x")',
    'emails[type eq "work"',
    'emails[type eq "work"]]',
    'emails[a[b eq "x"]]',
    "emails[]",
    'not userName eq "x"',
    'userName eq "x" "y"',
    'userName eq "a\\q"',
    'userName eq "\u0000"',
    "userName eq 01",
    "userName eq 1e999",
    'us"er eq "x"',
    "; drop table users",
    `a pr${" or a pr".repeat(100)}`,
    `${"(".repeat(30)}a pr${")".repeat(30)}`,
    `userName eq "${"x".repeat(5_000)}"`,
  ])
    assert.throws(() => parseFilter(text), { wire: "invalidFilter", status: 400 }, text.slice(0, 80));
  for (const text of ["", "a.b.c", "a[b eq 1", "a]", "a eq 1", "1", "[a]", "a[b pr].c.d"])
    assert.throws(() => parsePath(text), { wire: "invalidPath" }, text);
});

test("property: every text quickly gives a tree or a refusal", () => {
  const piece = fc.constantFrom(
    "a",
    "eq",
    '"x"',
    "and",
    "or",
    "not",
    "(",
    ")",
    "[",
    "]",
    ".b",
    "pr",
    "true",
    " ",
    "urn:a:",
    "1",
    "\\",
    '"',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece).map((all) => all.join(" ")),
      ),
      (text) => {
        try {
          parseFilter(text);
        } catch (error) {
          assert.equal((error as { wire: string }).wire, "invalidFilter");
        }
      },
    ),
    { numRuns: 2_000 },
  );
});
