/** Time that passes while servers run their background job for delegates. */
import type { TestPlatform } from "./platform.ts";

const BETWEEN_LOOKS_MS = 10_000;

type Server = Pick<TestPlatform, "clock" | "platform">;

const look = (servers: readonly Server[]): Promise<void[]> =>
  Promise.all(servers.map((one) => one.platform.reconcile()));

/**
 * Advances the clock that the servers share. Each server runs its job at the start, every ten seconds, and at the
 * end.
 */
export async function passTime(ms: number, ...servers: readonly [Server, ...Server[]]): Promise<void> {
  await look(servers);
  for (let left = ms; left > 0; left -= BETWEEN_LOOKS_MS) {
    servers[0].clock.advance(Math.min(left, BETWEEN_LOOKS_MS));
    await look(servers);
  }
}
