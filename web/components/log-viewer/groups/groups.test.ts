import assert from "node:assert/strict";
import { test } from "node:test";
import { groupsOf, type Marker } from "./groups.ts";

const marker = (number: number, kind: Marker["marker"]): Marker => ({ number, marker: kind, title: "" });

test("a section ends before the next one, a command at its end", () => {
  const markers = [marker(1, "---"), marker(3, "::group::"), marker(6, "::endgroup::"), marker(9, "+++")];
  assert.deepEqual(groupsOf(markers), [
    { header: 1, to: 8 },
    { header: 3, to: 6 },
    { header: 9, to: Number.POSITIVE_INFINITY },
  ]);
});

test("a group without an end marker ends before the next group, and a group without lines is left out", () => {
  const markers = [marker(1, "::group::"), marker(4, "::group::"), marker(5, "~~~"), marker(6, "---")];
  assert.deepEqual(groupsOf(markers), [
    { header: 1, to: 3 },
    { header: 6, to: Number.POSITIVE_INFINITY },
  ]);
});

test("an end without a beginning closes nothing", () => {
  assert.deepEqual(groupsOf([marker(2, "::endgroup::"), marker(3, "::endgroup::")]), []);
});
