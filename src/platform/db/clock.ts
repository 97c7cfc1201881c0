/**
 * The time of the database: a sample of its clock, plus the time that this process's monotonic clock has measured
 * since (docs/decisions/0022-clocks.md). The wall clock of the server's machine is never read.
 */
import type { Clock } from "../../core/clock.ts";
import { every } from "../jobs/every.ts";
import type { Db, DbLog } from "./db.ts";

type Elapsed = Clock["elapsed"];

/** Bounds of "database time minus elapsed time". */
type Offsets = { readonly least: number; readonly most: number };

const SYNCHRONIZE_MS = 5_000;
/** A larger correction is logged: a clock was set, or a machine was suspended. */
const NOTABLE_MS = 1_000;
/** Speed of a clock that is ahead, until the database catches up. */
const SLOWED = 0.5;

const monotonic: Elapsed = () => performance.now();

/** The pure part of the clock: takes offsets and returns the time. */
export function createSteeredClock(elapsed: Elapsed) {
  let offset: number | undefined;
  // How far `now` was ahead of the database at `since`; it decreases while the clock runs at SLOWED speed.
  let [lead, since] = [0, 0];
  const leadAt = (at: number): number => Math.max(0, lead - (at - since) * (1 - SLOWED));

  return {
    /**
     * Takes a sample and returns the correction in milliseconds. A sample that agrees with the clock, within the
     * uncertainty of its round trip, changes nothing.
     */
    correct: ({ least, most }: Offsets): number => {
      const before = offset ?? (least + most) / 2;
      const at = elapsed();
      const ahead = leadAt(at);
      offset = Math.min(Math.max(before, least), most);
      // A forward correction applies at once. For a backward one, the clock runs slower.
      lead = Math.max(0, ahead + before - offset);
      since = at;
      return offset - before;
    },
    now: (): number => {
      const at = elapsed();
      return Math.floor(at + (offset ?? 0) + leadAt(at));
    },
  };
}

const SAMPLE = "select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now";

/** Reads the database's time. The database takes it at some moment of the round trip, which bounds the offset. */
async function sample(db: Pick<Db, "query">, elapsed: Elapsed): Promise<Offsets> {
  const from = elapsed();
  const [row] = await db.query<{ now: number }>(SAMPLE);
  const until = elapsed();
  if (!row) throw new Error("the database did not answer its time");
  // The result is rounded down to the millisecond.
  return { least: row.now - until, most: row.now + 1 - from };
}

/** Returns the clock, synchronized once. Rejects when the database does not answer. */
export async function readDatabaseClock(
  db: Pick<Db, "query">,
  elapsed: Elapsed = monotonic,
): Promise<Clock & { readonly synchronize: () => Promise<number> }> {
  const clock = createSteeredClock(elapsed);
  const synchronize = async (): Promise<number> => clock.correct(await sample(db, elapsed));
  // The first round trip includes opening a connection; the second one narrows the estimate.
  await synchronize();
  await synchronize();
  return { now: clock.now, elapsed, synchronize };
}

/**
 * Returns a server's clock, synchronized until it is stopped. While the database is unreachable, it runs on the
 * monotonic clock.
 */
export async function startDatabaseClock(
  db: Pick<Db, "query">,
  log: DbLog,
): Promise<{ readonly clock: Clock; readonly stop: () => Promise<void> }> {
  const clock = await readDatabaseClock(db);
  const synchronize = async (): Promise<void> => {
    const correctedMs = Math.round(await clock.synchronize());
    if (Math.abs(correctedMs) >= NOTABLE_MS)
      log.warn(
        { correctedMs },
        "the clock of the database and that of this process have moved apart; following the database",
      );
  };
  const job = every(SYNCHRONIZE_MS, synchronize, (error) =>
    log.debug({ err: error }, "the time of the database could not be read; going on by the monotonic clock"),
  );
  return { clock, stop: job.stop };
}
