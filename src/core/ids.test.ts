import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fromWire, toWire, type Uuid } from "./ids.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const anyId = fc.uuid() as fc.Arbitrary<Uuid>;

test("an id on the wire is the base64url of its bytes, and comes back", () => {
  fc.assert(
    fc.property(anyId, (id) => {
      assert.equal(toWire(id), Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url"));
      assert.equal(fromWire(toWire(id)), id);
    }),
  );
});

test("of all texts that decode to an id, one alone is the id", () => {
  fc.assert(
    fc.property(anyId, (id) => {
      const head = toWire(id).slice(0, 21);
      const taken = [...ALPHABET].filter((last) => fromWire(head + last) !== undefined);
      assert.deepEqual(
        taken.map((last) => toWire(fromWire(head + last) as Uuid)),
        taken.map((last) => head + last),
      );
      assert.equal(taken.length, 4);
    }),
  );
});

test("what has another length or other characters is no id", () => {
  for (const text of [
    "",
    "A",
    "A".repeat(21),
    "A".repeat(23),
    `${"A".repeat(20)}+A`,
    `${"A".repeat(21)}A\n`,
    "ä".repeat(22),
  ])
    assert.equal(fromWire(text), undefined, text);
});
