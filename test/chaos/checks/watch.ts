/** Records the states of all executions during the run, from the database and from responses to clients. */
import { setTimeout as rest } from "node:timers/promises";
import { toWire, type Uuid } from "../../../src/core/ids.ts";
import type { Db } from "../../../src/platform/db/db.ts";
import { SERVERS } from "../names.ts";
import type { Timeline } from "../timeline.ts";
import type { World } from "../platform/world.ts";

const LOOK_MS = 500;
/** Number of executions that clients request each time. */
const ASKED = 2;
export const FINAL: ReadonlySet<string> = new Set([
  ...["succeeded", "ignored", "failed", "errored", "aborted", "expired", "rejected"],
]);
const WIRE: Readonly<Record<string, string>> = {
  SUCCESS: "succeeded",
  FAILED: "failed",
  ERROR: "errored",
  ABORTED: "aborted",
  EXPIRED: "expired",
  REJECTED: "rejected",
};

/** An execution that was seen ended for the first time. Time as in Timeline. */
export type SeenEnd = {
  readonly status: string;
  /** Hash of the whole state. Undefined if only a client has seen the end. */
  readonly hash: string | undefined;
  readonly logBytes: number | undefined;
  readonly at: number;
};
export type Change = { readonly id: Uuid; readonly before: string; readonly after: string };

export type Watch = {
  readonly ends: ReadonlyMap<Uuid, SeenEnd>;
  /** States that changed after a final state. */
  readonly changes: readonly Change[];
  readonly counts: () => Readonly<Record<string, number>>;
  /** Reads the states once. Rejects if the database is away. */
  readonly look: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

type Row = { readonly id: Uuid; readonly status: string };
type Sealed = Row & { readonly hash: string; readonly bytes: number };

export async function readEnds(db: Db, ids: readonly Uuid[]): Promise<readonly Sealed[]> {
  return db.query<Sealed>(
    `select id, status, md5(header::text || coalesce((select string_agg(n::text, '' order by n.id) from execution_nodes n
                       where n.account_id = e.account_id and n.execution_id = e.id), '')) as hash,
            coalesce((select sum(length(data)) from log_chunks l
                       where l.account_id = e.account_id and l.execution_id = e.id), 0)::bigint as bytes
       from executions e where id = any($1::uuid[])`,
    [ids],
  );
}

export function startWatch(world: Pick<World, "db" | "api">, timeline: Timeline): Watch {
  const ends = new Map<Uuid, SeenEnd>();
  const told = new Map<Uuid, string>();
  const changes: Change[] = [];
  let counts: Record<string, number> = {};
  let isOver = false;
  let turn = 0;

  async function look(): Promise<void> {
    const rows = await world.db.query<Row>("select id, status from executions");
    counts = {};
    for (const { id, status } of rows) {
      counts[status] = (counts[status] ?? 0) + 1;
      const end = ends.get(id);
      if (end && end.status !== status) changes.push({ id, before: end.status, after: status });
    }
    const fresh = rows.filter(({ id, status }) => FINAL.has(status) && !ends.has(id)).map(({ id }) => id);
    if (fresh.length > 0)
      for (const { id, status, hash, bytes } of await readEnds(world.db, fresh))
        ends.set(id, { status, hash, logBytes: bytes, at: timeline.now() });
    if (!isOver) for (let n = 0; n < ASKED && rows.length > 0; n += 1) await ask(rows[(turn += 7) % rows.length]?.id);
  }

  /** All servers must report the same state of an ended execution. */
  async function ask(id: Uuid | undefined): Promise<void> {
    const server = SERVERS[turn % SERVERS.length];
    if (!id || !server) return;
    const answer = await world
      .api(server, true)
      .status(toWire(id))
      .catch(() => undefined);
    const status = answer === undefined ? undefined : WIRE[answer];
    const before = told.get(id);
    if (before !== undefined && answer !== undefined && before !== answer) changes.push({ id, before, after: answer });
    if (status !== undefined && answer !== undefined) told.set(id, answer);
  }

  async function keepLooking(): Promise<void> {
    while (!isOver) {
      // The database is away at times. The next attempt reads the states.
      await look().catch(() => {});
      await rest(LOOK_MS);
    }
  }
  const looking = keepLooking();

  return {
    ends,
    changes,
    counts: () => counts,
    look,
    stop: async () => {
      isOver = true;
      await looking;
    },
  };
}
