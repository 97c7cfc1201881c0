/** Secrets on their way to a task that has not come yet: values in memory, files in a folder. */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ShellTask, ToDelegate } from "../../protocol/messages.ts";
import { textOf } from "../fault.ts";
import { keyOf } from "../task-folder/task-folders.ts";
import type { Lease } from "../output/shipper.ts";

type Piece = Extract<ToDelegate, { kind: "secret" }>;
export type Uses = NonNullable<ShellTask["secrets"]>["uses"];

export type Incoming = {
  /** A piece of a secret whose task is still to come. Never throws: what went wrong is told by `missing`. */
  readonly take: (piece: Piece) => void;
  /** Why the task cannot be begun with what has come; undefined when all is there. */
  readonly missing: (lease: Lease, uses: Uses) => string | undefined;
  /** The error that keeping them has ended with. */
  readonly fault: (lease: Lease) => unknown;
  readonly valueOf: (lease: Lease, nth: number) => Buffer;
  /** Where the file has been put together. */
  readonly fileOf: (lease: Lease, nth: number) => string;
  /** Of a task that was begun, or will not be. */
  readonly forget: (lease: Lease) => void;
  readonly forgetAll: () => void;
};

/** Of all values of one task; a process cannot be given more. */
const MAX_VALUES = 2 * 1024 * 1024;

type Secret = { readonly as: "value" | "file"; readonly pieces: Buffer[]; isWhole: boolean };
type Arrived = { readonly secrets: Map<number, Secret>; bytes: number; fault: unknown };

export function createIncoming(folder: string): Incoming {
  const arrived = new Map<string, Arrived>();
  const fileOf = (lease: Lease, nth: number): string => join(folder, keyOf(lease), String(nth));

  const accept = (record: Arrived, piece: Piece): void => {
    const bytes = Buffer.from(piece.data, "base64");
    const secret = record.secrets.get(piece.nth) ?? { as: piece.as, pieces: [], isWhole: false };
    record.secrets.set(piece.nth, secret);
    if (secret.isWhole || secret.as !== piece.as) throw new Error("a secret came twice");
    if (piece.as === "file") {
      mkdirSync(join(folder, keyOf(piece)), { recursive: true, mode: 0o700 });
      appendFileSync(fileOf(piece, piece.nth), bytes, { mode: 0o600 });
      bytes.fill(0);
    } else {
      record.bytes += bytes.length;
      if (record.bytes > MAX_VALUES) throw new Error(`they have more than ${MAX_VALUES} bytes together`);
      secret.pieces.push(bytes);
    }
    secret.isWhole = piece.last;
  };

  const forget = (key: string): void => {
    for (const { pieces } of arrived.get(key)?.secrets.values() ?? []) for (const piece of pieces) piece.fill(0);
    if (arrived.delete(key)) rmSync(join(folder, key), { recursive: true, force: true });
  };

  return {
    fileOf,
    valueOf: (lease, nth) => Buffer.concat(arrived.get(keyOf(lease))?.secrets.get(nth)?.pieces ?? []),
    take: (piece) => {
      const key = keyOf(piece);
      const record = arrived.get(key) ?? { secrets: new Map(), bytes: 0, fault: undefined };
      arrived.set(key, record);
      if (record.fault !== undefined) return;
      try {
        accept(record, piece);
      } catch (error) {
        record.fault = error;
      }
    },
    fault: (lease) => arrived.get(keyOf(lease))?.fault,
    missing: (lease, uses) => {
      const record = arrived.get(keyOf(lease));
      if (record?.fault !== undefined) return `The secrets of the task could not be kept: ${textOf(record.fault)}`;
      const late = uses.findIndex(({ as }, nth) => {
        const secret = record?.secrets.get(nth);
        return !secret?.isWhole || secret.as !== as;
      });
      return late < 0 ? undefined : `The secret '${uses[late]?.label}' did not come with its task.`;
    },
    forget: (lease) => forget(keyOf(lease)),
    forgetAll: () => {
      for (const key of arrived.keys()) forget(key);
    },
  };
}
