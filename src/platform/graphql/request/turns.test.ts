import assert from "node:assert/strict";
import { test } from "node:test";
import { createEventLoopTurns } from "./turns.ts";

test("turns that are asked for at once come in rounds of the event loop of their own, those of other requests between", async () => {
  const turn = createEventLoopTurns();
  const [context, other] = [{}, {}];
  let round = 0;
  const counting = setImmediate(function count() {
    round += 1;
    again = setImmediate(count);
  });
  let again: NodeJS.Immediate | undefined;
  const rounds = await Promise.all(
    [context, context, context, other].map(async (one) => {
      await turn(one);
      return round;
    }),
  );
  clearImmediate(counting);
  clearImmediate(again);
  const [first, second, third, ofOther] = rounds as [number, number, number, number];
  assert.ok(first < second && second < third, rounds.join(" "));
  assert.equal(ofOther, first, "another request does not wait for these");
});
