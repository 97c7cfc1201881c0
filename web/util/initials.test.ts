import assert from "node:assert/strict";
import { test } from "node:test";
import { initialsOf } from "./initials.ts";

test("initials are those of the first and the last word", () => {
  for (const [name, expected] of [
    ["Ada Lovelace", "AL"],
    ["ada.lovelace@example.org", "AL"],
    ["Juan Carlos de Borbón", "JB"],
    ["deploy-bot", "DB"],
    ["admin", "A"],
    ["(Ada)", "A"],
    ["élise", "É"],
    ["李 小龙", "李小"],
    ["", "?"],
    [" -- ", "?"],
    ["\u202Eevil", "E"],
  ] as const)
    assert.equal(initialsOf(name), expected, name);
});
