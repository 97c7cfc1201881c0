import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { test } from "node:test";
import type { Uuid } from "../../core/ids.ts";
import { freeSlots, createSessions, type Session, type SessionLease } from "./sessions.ts";

const newId = (): Uuid => randomUUIDv7() as Uuid;
const account = newId();
const idle = {
  isEnabled: true,
  tokenId: newId(),
  leasedTasks: new Map<Uuid, SessionLease>(),
  lastReceivedAt: 0,
  unavailableReason: undefined,
  ping: () => undefined,
  send: () => true,
  sendAndFlush: async () => true,
  endUnsentTask: async () => {},
  close: () => {},
  verifyEntitlement: async () => true,
};

const request = (accountId: Uuid, selectors: readonly string[] = [], capability = "shell/1") => ({
  ...{ accountId, selectors, capability },
  runId: newId(),
});

function setUp(
  ...delegates: readonly (readonly [name: string, slots: number, leased: number, tags?: readonly string[]])[]
) {
  const sessions = createSessions();
  const opened: Record<string, Session> = {};
  for (const [name, slots, leased, tags = []] of delegates) {
    const tasks = new Map(Array.from({ length: leased }, () => [newId(), { runId: newId(), epoch: 1 }] as const));
    opened[name] = sessions.open(
      { id: newId(), accountId: account, name, tags, slots, capabilities: ["shell/1"] },
      { ...idle, leasedTasks: tasks },
    );
  }
  return {
    sessions,
    opened,
    match: (...selectors: string[]) => sessions.findFreeSession(request(account, selectors))?.delegate.name,
  };
}

test("the least busy one for its size gets the task", () => {
  assert.equal(setUp(["a", 4, 2], ["b", 4, 1]).match(), "b");
  assert.equal(setUp(["small", 2, 1], ["large", 10, 4]).match(), "large");
  assert.equal(setUp(["full", 1, 1], ["nearly", 10, 9]).match(), "nearly");
});

test("a full one gets nothing, nor does one whose slots are set aside", () => {
  const { opened, match } = setUp(["full", 1, 1], ["open", 2, 1]);
  assert.equal(match(), "open");
  const { open } = opened;
  assert.ok(open);
  open.slotsReservedForPull = 1;
  assert.equal(match(), undefined);
  assert.equal(freeSlots(open), 0);
});

test("one that holds more than its slots has none free", () => {
  const { opened, match } = setUp(["over", 1, 3]);
  assert.equal(match(), undefined);
  assert.ok(opened["over"]);
  assert.equal(freeSlots(opened["over"]), 0);
});

test("one that waits for approval gets nothing", () => {
  const { sessions, opened, match } = setUp(["waits", 4, 0]);
  const { waits } = opened;
  assert.ok(waits);
  waits.isEnabled = false;
  assert.equal(match(), undefined);
  assert.equal(sessions.enable(waits), true);
  assert.equal(match(), "waits");
  assert.equal(sessions.enable(waits), false);
});

test("another account's delegate never matches", () => {
  const { sessions } = setUp(["mine", 4, 0]);
  assert.equal(sessions.findFreeSession(request(newId())), undefined);
});

test("a delegate that cannot run the work never matches", () => {
  const { sessions } = setUp(["mine", 4, 0]);
  assert.equal(sessions.findFreeSession(request(account, [], "http/1")), undefined);
  assert.equal(sessions.findFreeSession(request(account, [], "shell/2")), undefined);
});

test("a session that was replaced does not close the new one", () => {
  const sessions = createSessions();
  const delegate = { id: newId(), accountId: account, name: "d", tags: [], slots: 1, capabilities: [] };
  let ended = 0;
  const first = sessions.open(delegate, { ...idle, close: () => (ended += 1) });
  const second = sessions.open(delegate, idle);
  assert.equal(ended, 1);
  sessions.remove(first);
  assert.equal(sessions.find(delegate.id), second);
  sessions.remove(second);
  assert.deepEqual(sessions.all(), []);
});
