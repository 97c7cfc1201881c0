/**
 * The chain of an account: the n-th seal holds the hash of its entry (`content`), and a hash over the seal before it, its
 * own number and that content. Whoever has noted the newest hash knows all entries up to it: none can be changed, taken
 * away, put between or put in another place without a hash further on being another one.
 *
 * Entries are appended by any number of transactions at once, none of which waits for another; the sealer puts them in
 * the chain a moment later (seal.ts).
 */
import { hash } from "node:crypto";
import type { Uuid } from "../core/ids.ts";
import type { AuditEntry } from "./entry.ts";

/** An entry as it stands in the table; `difference` to the letter. */
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

/** A head as somebody keeps it elsewhere; `at`: the latest time of the entries up to it, in epoch milliseconds; 0 at the beginning. */
export type NotedHead = Head & { readonly at: number };

/** What the first seal of every chain is linked to. */
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

/** SHA-256 over the hash before, the number in 8 bytes (the highest first), and the content. */
export function link(before: Head, content: Buffer): Head {
  const sequence = before.sequence + 1;
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(BigInt(sequence));
  return { sequence, hash: hash("sha256", Buffer.concat([before.hash, number, content]), "buffer") };
}
