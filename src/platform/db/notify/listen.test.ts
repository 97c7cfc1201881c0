import assert from "node:assert/strict";
import { after, test } from "node:test";
import { freshDatabase } from "../../../../test/support/database.ts";

const errors: unknown[] = [];
const { db, drop } = await freshDatabase({ onError: (error) => errors.push(error), listenBackoff: () => 1 });
after(drop);

/** A listener whose payloads are waited for one after the other. */
function inbox() {
  const arrived: string[] = [];
  let wake = (): void => {};
  return {
    arrived,
    notified: (payload: string): void => {
      arrived.push(payload);
      wake();
    },
    next: async (): Promise<string> => {
      while (arrived.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return arrived.shift() ?? "";
    },
  };
}

const notify = (channel: string, payload: string) => db.query("select pg_notify($1, $2)", [channel, payload]);
const killListeners = () =>
  db.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ~* '^(un)?listen'",
  );

test("a listener is woken once when listening has begun, then for each notification on its channel", async () => {
  const [one, other] = [inbox(), inbox()];
  const stops = [db.listen("one", one.notified), db.listen('Other "channel"', other.notified)];
  assert.deepEqual([await one.next(), await other.next()], ["", ""]);
  await notify("one", "a");
  await notify('Other "channel"', "b");
  assert.deepEqual([await one.next(), await other.next()], ["a", "b"]);
  for (const stop of stops) stop();
});

test("every listener of a channel hears it, until it stops", async () => {
  const [first, second] = [inbox(), inbox()];
  const stopFirst = db.listen("shared", first.notified);
  const stopSecond = db.listen("shared", second.notified);
  assert.deepEqual([await first.next(), await second.next()], ["", ""]);
  stopFirst();
  await notify("shared", "x");
  assert.equal(await second.next(), "x");
  assert.deepEqual(first.arrived, []);
  stopSecond();
});

test("after a lost connection every listener is woken once and hears again", async () => {
  const [one, two] = [inbox(), inbox()];
  const stops = [db.listen("one", one.notified), db.listen("two", two.notified)];
  assert.deepEqual([await one.next(), await two.next()], ["", ""]);
  await killListeners();
  assert.deepEqual([await one.next(), await two.next()], ["", ""]);
  await notify("two", "after");
  assert.equal(await two.next(), "after");
  assert.deepEqual(one.arrived, []);
  for (const stop of stops) stop();
});

test("a listener that throws is reported and does not stop the others", async () => {
  const good = inbox();
  const boom = new Error("listener");
  const stops = [
    db.listen("loud", (payload) => {
      if (payload !== "") throw boom;
    }),
    db.listen("loud", good.notified),
  ];
  await good.next();
  await notify("loud", "x");
  assert.equal(await good.next(), "x");
  assert.deepEqual(errors, [boom]);
  for (const stop of stops) stop();
});
