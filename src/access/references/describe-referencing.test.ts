import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { test } from "node:test";
import { grantOf } from "../../../test/support/access.ts";
import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import { describeReferencing, type ReferencingResource } from "./describe-referencing.ts";

const id = randomUUIDv7() as Uuid;
const actor: Actor = {
  ...{ kind: "user", accountId: id, id, name: "a", email: "a@example.com" },
  grants: [grantOf("_project_viewer", { orgIdentifier: "default", projectIdentifier: "shop" })],
};
const pipeline = (nth: number, projectIdentifier: string | null = "shop"): ReferencingResource => ({
  ...{ type: "PIPELINE", identifier: `p${nth}`, orgIdentifier: "default", projectIdentifier },
});

test("the first five visible resources are listed, the others counted, and hidden ones counted separately", () => {
  const seen = [1, 2, 3, 4, 5, 6, 7].map((nth) => pipeline(nth));
  const five = [1, 2, 3, 4, 5].map((nth) => `pipeline p${nth} of project shop`).join(", ");
  assert.equal(describeReferencing(actor, seen.slice(0, 5)), five);
  assert.equal(describeReferencing(actor, seen), `${five} and 2 more`);
  const hidden = [pipeline(8, "other"), { ...pipeline(9, null), type: "CONNECTOR" } as const];
  assert.equal(describeReferencing(actor, [...hidden, ...seen]), `${five} and 2 more and 2 that you may not see`);
  assert.equal(describeReferencing(actor, hidden), "2 that you may not see");
});
