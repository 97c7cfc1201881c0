/**
 * The chain of an account. The n-th seal has the hash of its entry (`content`), and a hash over the previous seal, its
 * own number and that content. The newest hash therefore fixes all entries before it: changing, removing, inserting or
 * reordering one changes a later hash. Any number of transactions append entries at once without waiting for each
 * other. The sealer adds them to the chain a moment later (seal.ts).
 */
import { hash } from "node:crypto";
import type { Uuid } from "../../core/ids.ts";
import type { AuditEntry } from "../entry.ts";

/** An entry as stored in the table; `difference` is the exact JSON text. */
export type SealedFields = Omit<AuditEntry, "difference" | "request"> & {
  readonly difference: string | null;
  readonly method: string | null;
  readonly path: string | null;
  readonly remoteAddress: string | null;
  readonly correlationId: string | null;
};

export type Seal = {
  readonly sequence: number;
  readonly entryId: Uuid;
  readonly content: Buffer;
  readonly hash: Buffer;
};

export type Head = { readonly sequence: number; readonly hash: Buffer };

/**
 * A head noted outside of the database. `at` is the latest time of the entries up to it, in epoch milliseconds; 0 at
 * the beginning.
 */
export type NotedHead = Head & { readonly at: number };

/** The predecessor of the first seal of every chain. */
export const BEGINNING: Head = { sequence: 0, hash: Buffer.alloc(32) };

/** SHA-256 over the fields in this order, as a JSON list in UTF-8 (docs/operations/audit.md). */
export const contentOf = (entry: SealedFields): Buffer =>
  hash(
    "sha256",
    JSON.stringify([
      entry.accountId,
      entry.id,
      entry.at,
      entry.actorKind,
      entry.actorId,
      entry.actorName,
      entry.actorEmail,
      entry.operation,
      entry.resourceType,
      entry.resourceId,
      entry.orgIdentifier,
      entry.projectIdentifier,
      entry.method,
      entry.path,
      entry.remoteAddress,
      entry.correlationId,
      entry.difference,
      entry.outcome,
      entry.code,
      entry.status,
      entry.permission,
      entry.attempts,
    ]),
    "buffer",
  );

/** SHA-256 over the previous hash, the number in 8 bytes (big-endian), and the content. */
export function link(before: Head, content: Buffer): Head {
  const sequence = before.sequence + 1;
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(BigInt(sequence));
  return { sequence, hash: hash("sha256", Buffer.concat([before.hash, number, content]), "buffer") };
}
