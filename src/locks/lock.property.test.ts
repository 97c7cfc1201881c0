/** The rule of grants: never two holders beside each other, first come first served, and no request is forgotten. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Uuid } from "../core/ids.ts";
import { type LockRequest, nextGrants } from "./lock.ts";

/** Executions have a root, two stages below it, and a step below each; a request is of one of these. */
const asking = fc.record({
  execution: fc.nat({ max: 3 }),
  stage: fc.constantFrom("x", "y"),
  until: fc.constantFrom("stage", "root"),
});

type Event = { readonly kind: "ask"; readonly of: Asking } | { readonly kind: "end"; readonly of: Asking };
type Asking = { readonly execution: number; readonly stage: string; readonly until: string };

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 2, arbitrary: asking.map((of) => ({ kind: "ask" as const, of })) },
  { weight: 1, arbitrary: asking.map((of) => ({ kind: "end" as const, of })) },
);

const idOf = (...parts: readonly (string | number)[]): Uuid => parts.join("/") as Uuid;

const holderOf = ({ execution, stage, until }: Asking): Uuid =>
  until === "stage" ? idOf(execution, stage) : idOf(execution);

/** Two holders are beside each other unless one is around the other. */
const areBeside = (a: LockRequest, b: LockRequest): boolean =>
  !a.around.includes(b.holderId) && !b.around.includes(a.holderId);

class Key {
  requests: LockRequest[] = [];
  turn = 0;

  ask(of: Asking): void {
    const around = [idOf(of.execution, of.stage, "step"), idOf(of.execution, of.stage), idOf(of.execution)];
    this.requests.push({ turn: (this.turn += 1), holderId: holderOf(of), around, isGranted: false });
  }

  end(of: Asking): void {
    const holder = holderOf(of);
    // What stands below a node ends before it.
    this.requests = this.requests.filter(({ around, holderId }) => holderId !== holder && !around.includes(holder));
  }

  serve(): void {
    for (const next of nextGrants(this.requests)) {
      const { turn } = next;
      const before = this.requests.filter((one) => !one.isGranted && one.turn < turn);
      const holders = this.requests.filter(({ isGranted }) => isGranted);
      assert.ok(before.length === 0 || holders.length > 0, "a free lock passes over who came first");
      for (const holder of holders) assert.ok(!areBeside(holder, next), "two hold the lock");
      this.requests = this.requests.map((one) => (one.turn === turn ? { ...one, isGranted: true } : one));
    }
    assert.deepEqual(nextGrants(this.requests), [], "what may be granted is granted at once");
    const isHeld = this.requests.some(({ isGranted }) => isGranted);
    assert.ok(isHeld || this.requests.length === 0, "a free lock is asked for");
    const waiting = this.requests.filter(({ isGranted }) => !isGranted);
    const granted = this.requests.filter(({ isGranted }) => isGranted);
    for (const one of waiting)
      assert.ok(!granted.every(({ holderId }) => one.around.includes(holderId)), "a holder waits for itself");
  }
}

test("whatever is asked for and ends", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      const key = new Key();
      for (const { kind, of } of events) {
        if (kind === "ask") key.ask(of);
        else key.end(of);
        key.serve();
      }
      for (const execution of [0, 1, 2, 3]) {
        key.end({ execution, stage: "x", until: "root" });
        key.serve();
      }
      assert.deepEqual(key.requests, []);
    }),
    { numRuns: 2_000 },
  );
});
