import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import type { Query } from "../platform/db/db.ts";
import type { AuditEntry } from "./entry.ts";
import type { MayRead } from "./list.ts";
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

/** The trail of the account as lines, oldest first, at the reader's pace. Throws before the first of them, or not at all. */
export const exportAudits =
  (deps: { readonly db: { readonly query: Query }; readonly authorize: MayRead }) =>
  (actor: Actor, within: Within): AsyncIterable<Buffer> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_audit_view", { accountId });
    return linesOf(entriesOf(deps.db, accountId, within));
  };

export type ExportAudits = ReturnType<typeof exportAudits>;

/** Some lines at a time: one write each would cost more than the lines. */
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
