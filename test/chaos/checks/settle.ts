/** Waits for the system to settle after the faults, and checks that delegates have all their slots. */
import { writeFileSync } from "node:fs";
import { setTimeout as rest } from "node:timers/promises";
import { readStarts } from "./leftovers.ts";
import type { Load, Request } from "../load/load.ts";
import { DELEGATES, SERVERS, type DelegateName } from "../names.ts";
import type { Places } from "../load/kinds.ts";
import { violation, type Violation } from "./violation.ts";
import { SLOTS, type World } from "../platform/world.ts";

/** Longer than the minute after which the steps of a lost delegate end, plus the time until servers notice. */
const SETTLE_MS = 150_000;
const BACK_MS = 60_000;
const SLOTS_MS = 30_000;
const MAX_TRIES = 10;
const LOOK_MS = 500;

/** Resolves when the condition is true, or after `ms`. */
export async function waitUntil(
  isSo: () => Promise<boolean> | boolean,
  ms: number,
  signal?: AbortSignal,
): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end && !signal?.aborted; await rest(LOOK_MS))
    if (await isSo()) return;
}

/** Waits until both servers are ready. */
export async function waitForServers(world: Pick<World, "machines">): Promise<readonly Violation[]> {
  const waits = SERVERS.map(async (name) => {
    try {
      await world.machines.get(name)?.waitForOutput(/^Railhead is ready\.$/m, BACK_MS);
      return [];
    } catch (error) {
      return [violation("crashes", name, String(error), "a server that is ready")];
    }
  });
  return (await Promise.all(waits)).flat();
}

/** Waits until nothing is open. The checks find what remains open. */
export async function waitUntilSettled({ db }: Pick<World, "db">, signal: AbortSignal): Promise<void> {
  const isSettled = async (): Promise<boolean> => {
    const [row] = await db.query<{ open: number }>(
      `select (select count(*) from executions where ended_at is null)
            + (select count(*) from tasks where status <> 'finished')
            + (select count(*) from webhook_deliveries where processed_at is null) as open`,
    );
    return row?.open === 0;
  };
  await waitUntil(() => isSettled().catch(() => false), SETTLE_MS, signal);
}

export const slotsPipeline = (delegate: DelegateName): string => `slots_${delegate.replace("-", "_")}`;

/** Checks that as many steps as a delegate has slots run on it at the same time. */
export async function checkSlots(load: Pick<Load, "send">, { starts, barrier }: Places): Promise<readonly Violation[]> {
  const wanted = DELEGATES.flatMap((name) => Array.from({ length: SLOTS }, () => name));
  const sent = await Promise.all(wanted.map((name) => sendUntilAcknowledged(load, name)));
  const runningOn = (name: string): number => {
    const started = readStarts(starts);
    return sent.filter(({ number, delegate }) => delegate === name && started.has(`${number} slot`)).length;
  };
  await waitUntil(() => DELEGATES.every((name) => runningOn(name) === SLOTS), SLOTS_MS);
  const missing = DELEGATES.filter((name) => runningOn(name) < SLOTS).map((name) =>
    violation("slots", name, `${runningOn(name)} at the same time`, `${SLOTS} steps at the same time`),
  );
  writeFileSync(barrier, "");
  return missing;
}

async function sendUntilAcknowledged(load: Pick<Load, "send">, delegate: DelegateName): Promise<Request> {
  for (let tries = 1; ; tries += 1) {
    const request = await load.send("slots", slotsPipeline(delegate), delegate);
    if (request.acknowledged || tries === MAX_TRIES) return request;
  }
}
