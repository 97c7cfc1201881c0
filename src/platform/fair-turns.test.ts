/** Which work runs next. The test ends each work itself. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFairTurns, type TurnLimits } from "./fair-turns.ts";

const BOUNDS: TurnLimits = { atOnce: 2, atOnceOfOne: 1, waiting: 6, waitingOfOne: 3 };

/** Turns whose works note that they began, and end when the test says so. */
function held(elapsed = (): number => 0, bounds = BOUNDS) {
  const inTurn = createFairTurns(bounds, elapsed);
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  const settled = async (): Promise<void> => void (await new Promise(setImmediate));
  return {
    began,
    ask: (name: string, until = 1): Promise<string | undefined> =>
      inTurn(name.slice(0, 1), until, async () => {
        began.push(name);
        await new Promise<void>((end) => ends.set(name, end));
        return name;
      }),
    end: async (name: string): Promise<void> => {
      ends.get(name)?.();
      await settled();
    },
    settled,
  };
}

test("works of one group and of all run within their bounds, and groups take turns however many works one has", async () => {
  const { began, ask, end, settled } = held();
  for (const name of ["a1", "a2", "a3", "b1", "b2", "c1"]) void ask(name);
  await settled();
  assert.deepEqual(began, ["a1", "b1"]);
  await end("a1");
  assert.deepEqual(began.slice(2), ["c1"], "the group that has had no turn goes before the second work of another");
  await end("b1");
  assert.deepEqual(began.slice(3), ["a2"]);
  await end("c1");
  assert.deepEqual(began.slice(4), ["b2"]);
  await end("b2");
  assert.deepEqual(began.slice(5), [], "the group's other work still runs");
  await end("a2");
  assert.deepEqual(began.slice(5), ["a3"]);
});

test("a work is not run where too many of its group wait, or too many of all", async () => {
  const { began, ask, settled } = held();
  for (const name of ["a1", "a2", "a3", "a4"]) void ask(name);
  assert.equal(await ask("a5"), undefined);
  for (const name of ["b1", "b2", "b3", "b4"]) void ask(name);
  assert.equal(await ask("c1"), undefined);
  await settled();
  assert.deepEqual(began, ["a1", "b1"]);
});

test("a group with many works leaves places to others, and takes the place of the work that ends", async () => {
  const { began, ask, end, settled } = held(() => 0, { atOnce: 4, atOnceOfOne: 3, waiting: 9, waitingOfOne: 9 });
  for (const name of ["a1", "a2", "a3", "a4", "a5"]) void ask(name);
  await settled();
  assert.deepEqual(began, ["a1", "a2", "a3"], "one place is left to other groups");
  for (const name of ["b1", "b2"]) void ask(name);
  await settled();
  assert.deepEqual(began.slice(3), ["b1"]);
  await end("a1");
  assert.deepEqual(began.slice(4), ["b2"], "the group that waits longest without a turn goes first");
  await end("b1");
  assert.deepEqual(began.slice(5), ["a4"]);
  await end("a2");
  assert.deepEqual(began.slice(6), ["a5"]);
});

test("a work whose time is over when its turn comes is not run, and holds up no other", async () => {
  let now = 0;
  const { began, ask, end, settled } = held(() => now);
  void ask("a1", 10);
  void ask("b1", 10);
  const late = ask("a2", 10);
  void ask("a3", 30);
  await settled();
  now = 20;
  await end("a1");
  assert.equal(await late, undefined);
  assert.deepEqual(began, ["a1", "b1", "a3"]);
});

test("a work that fails gives its place on", async () => {
  const inTurn = createFairTurns(BOUNDS, () => 0);
  await assert.rejects(
    inTurn("a", 1, () => Promise.reject(new Error("failed"))),
    /failed/,
  );
  assert.equal(await inTurn("a", 1, async () => "ran"), "ran");
});
