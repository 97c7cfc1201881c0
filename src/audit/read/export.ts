import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import type { AuditEntry } from "../entry.ts";
import type { MayRead } from "./list.ts";
import { nextEntries } from "../store/entries.ts";
import { auditEvent } from "../wire.ts";

/** A time range; both ends are included. */
export type Within = { readonly from?: number | undefined; readonly to?: number | undefined };

/** Entries in memory at a time, each below 20 KB; the client's pace decides when the next ones are read. */
const BATCH_SIZE = 100;

/** The entries of an account, oldest first, read in batches on demand. */
export async function* entriesOf(db: Store, accountId: Uuid, within: Within): AsyncGenerator<AuditEntry> {
  let after: AuditEntry | undefined;
  for (;;) {
    const piece = await nextEntries(db, { accountId, ...within, after }, BATCH_SIZE);
    yield* piece;
    if (piece.length < BATCH_SIZE) return;
    after = piece.at(-1);
  }
}

/** An entry as one JSON line, in the shape of the REST list. */
export const lineOf = (entry: AuditEntry): string => JSON.stringify(auditEvent(entry));

/** The trail of the account as lines, oldest first, at the client's pace. Throws before the first line or never. */
export const exportAudits =
  (deps: { readonly db: Store; readonly authorize: MayRead }) =>
  (actor: Actor, within: Within): AsyncIterable<Buffer> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_audit_view", { accountId });
    return linesOf(entriesOf(deps.db, accountId, within));
  };

export type ExportAudits = ReturnType<typeof exportAudits>;

/** Lines are written in chunks of this size in bytes: a write for each line costs more than the line. */
const CHUNK = 64 * 1024;

async function* linesOf(entries: AsyncIterable<AuditEntry>): AsyncGenerator<Buffer> {
  let text = "";
  for await (const entry of entries) {
    text += `${lineOf(entry)}\n`;
    if (text.length < CHUNK) continue;
    yield Buffer.from(text);
    text = "";
  }
  if (text !== "") yield Buffer.from(text);
}
