import type { Uuid } from "../core/ids.ts";
import type { Query } from "../platform/db/db.ts";
import type { AuditEntry } from "./entry.ts";
import { nextEntries } from "./store/entries.ts";
import { auditEvent } from "./wire.ts";

/** Both ends of the time belong to it. */
export type Within = { readonly from?: number | undefined; readonly to?: number | undefined };

/** Entries held at a time; the reader's pace is ours. */
const PIECE = 500;

/** The entries of an account, oldest first, read piece by piece as they are asked for. */
export async function* entriesOf(
  db: { readonly query: Query },
  accountId: Uuid,
  within: Within,
): AsyncGenerator<AuditEntry> {
  let after: AuditEntry | undefined;
  for (;;) {
    const piece = await nextEntries(db, accountId, within, after, PIECE);
    yield* piece;
    if (piece.length < PIECE) return;
    after = piece.at(-1);
  }
}

/** An entry as one line: what the list over REST shows of it. */
export const lineOf = (entry: AuditEntry): string => JSON.stringify(auditEvent(entry));
