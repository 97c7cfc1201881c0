/** Secrets that arrive before their task: values in memory, files in a folder. */
import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ToDelegate } from "../../protocol/messages.ts";
import type { SecretUses } from "../../protocol/work/secrets.ts";
import { FullDiskError, textOf } from "../fault.ts";
import { isOwnFolder } from "../work-folder/runtime-path.ts";
import { keyOf } from "../task-folder/task-folders.ts";
import type { Lease } from "../output/shipper.ts";
import { appendToFile } from "../regular-file.ts";

type SecretMessage = Extract<ToDelegate, { kind: "secret" }>;

export type IncomingSecrets = {
  /** Takes a chunk of a secret whose task has not arrived yet. Never throws: `findMissing` reports the error. */
  readonly receive: (piece: SecretMessage) => void;
  /** Why the task cannot start with the secrets that have arrived; undefined if all have. */
  readonly findMissing: (lease: Lease, uses: SecretUses) => string | undefined;
  /** The error with which receiving the secrets of the task failed. */
  readonly receiveError: (lease: Lease) => unknown;
  readonly valueOf: (lease: Lease, nth: number) => Buffer;
  /** Path of the received file. */
  readonly fileOf: (lease: Lease, nth: number) => string;
  /** Removes the received secrets of a task that has started or will not start. */
  readonly discard: (lease: Lease) => void;
  readonly discardAll: () => void;
};

/** Bytes of all values of one task. A process cannot get more. */
const MAX_VALUES = 2 * 1024 * 1024;

type ReceivedSecret = { readonly as: "value" | "file"; readonly chunks: Buffer[]; isWhole: boolean };
type ReceivedSecrets = { readonly secrets: Map<number, ReceivedSecret>; bytes: number; fault: unknown };

/** @param folder in the runtime folder, which may be missing now, or be another user's at that path */
export function createIncomingSecrets(folder: string): IncomingSecrets {
  const received = new Map<string, ReceivedSecrets>();
  const isUsable = (): boolean => isOwnFolder(dirname(folder));
  const fileOf = (lease: Lease, nth: number): string => join(folder, keyOf(lease), String(nth));

  const accept = (record: ReceivedSecrets, piece: SecretMessage): void => {
    const bytes = Buffer.from(piece.data, "base64");
    const secret = record.secrets.get(piece.nth) ?? { as: piece.as, chunks: [], isWhole: false };
    record.secrets.set(piece.nth, secret);
    if (secret.isWhole || secret.as !== piece.as) throw new Error("a secret came twice");
    if (piece.as === "file") {
      // As on a full disk, the task is given back.
      if (!isUsable()) throw new FullDiskError("the folder for secrets cannot be used now");
      mkdirSync(join(folder, keyOf(piece)), { recursive: true, mode: 0o700 });
      appendToFile(fileOf(piece, piece.nth), bytes);
      bytes.fill(0);
    } else {
      record.bytes += bytes.length;
      if (record.bytes > MAX_VALUES) throw new Error(`they have more than ${MAX_VALUES} bytes together`);
      secret.chunks.push(bytes);
    }
    secret.isWhole = piece.last;
  };

  const forget = (key: string): void => {
    for (const { chunks } of received.get(key)?.secrets.values() ?? []) for (const piece of chunks) piece.fill(0);
    if (received.delete(key) && isUsable()) rmSync(join(folder, key), { recursive: true, force: true });
  };

  return {
    fileOf,
    valueOf: (lease, nth) => Buffer.concat(received.get(keyOf(lease))?.secrets.get(nth)?.chunks ?? []),
    receive: (piece) => {
      const key = keyOf(piece);
      const record = received.get(key) ?? { secrets: new Map(), bytes: 0, fault: undefined };
      received.set(key, record);
      if (record.fault !== undefined) return;
      try {
        accept(record, piece);
      } catch (error) {
        record.fault = error;
      }
    },
    receiveError: (lease) => received.get(keyOf(lease))?.fault,
    findMissing: (lease, uses) => {
      const record = received.get(keyOf(lease));
      if (record?.fault !== undefined) return `The secrets of the task could not be kept: ${textOf(record.fault)}`;
      const late = uses.findIndex(({ as }, nth) => {
        const secret = record?.secrets.get(nth);
        return !secret?.isWhole || secret.as !== as;
      });
      return late < 0 ? undefined : `The secret '${uses[late]?.label}' did not come with its task.`;
    },
    discard: (lease) => forget(keyOf(lease)),
    discardAll: () => {
      for (const key of received.keys()) forget(key);
    },
  };
}
