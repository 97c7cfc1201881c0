/**
 * Where the secrets of steps are kept while they run: a folder of this
 * delegate in a file system that lies in memory, so that no disk holds them
 * and a restart of the machine ends them. It outlives the delegate, as its
 * steps do.
 *   incoming/<task>.<epoch>/   files of a task whose `run` has not come yet
 *   <task>.<epoch>/masks       what must not leave with the output: for the next delegate, should there be one
 *   <task>.<epoch>/files/      the step's files; gone with its processes
 * Only a step's own group can enter its part, and only its own user can read the files.
 */
import { createHash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { ShellTask, ToDelegate } from "../protocol/messages.ts";
import { codeOf, textOf } from "./fault.ts";
import { keyOf, type Owner } from "./folders.ts";
import { MAX_VALUE } from "./mask/needles.ts";
import type { Lease } from "./ship.ts";
import type { WorkDir } from "./work-dir.ts";

type Piece = Extract<ToDelegate, { kind: "secret" }>;
type Uses = NonNullable<ShellTask["secrets"]>["uses"];

/** What a step gets for each of its uses, as text, and all that has to be masked. */
export type Handed = { readonly texts: readonly string[]; readonly masks: readonly Buffer[] };

export type Safe = {
  readonly path: string;
  readonly inMemory: boolean;
  /** A piece of a secret whose task is still to come. Never throws: what went wrong is told by `missing`. */
  readonly take: (piece: Piece) => void;
  /** Why the task cannot be begun with what has come; undefined when all is there. */
  readonly missing: (lease: Lease, uses: Uses) => string | undefined;
  /** Forgets what has come for a task that was not begun. */
  readonly forget: (lease: Lease) => void;
  readonly forgetAll: () => void;
  /** @throws the system's error */
  readonly handOver: (lease: Lease, uses: Uses, owner: Owner) => Handed;
  /** Undefined when they are not known any more. */
  readonly masksOf: (lease: Lease) => readonly Buffer[] | undefined;
  readonly removeFiles: (lease: Lease) => void;
  readonly remove: (lease: Lease) => void;
  /** Removes what belongs to none of these tasks, and what an earlier delegate had not begun. */
  readonly clear: (held: readonly Lease[]) => void;
  /** Removes the folder itself when nothing is in it. */
  readonly close: () => void;
};

/** Of all values of one task; a process cannot be given more. */
const MAX_VALUES = 2 * 1024 * 1024;

type Incoming = { readonly as: "value" | "file"; readonly pieces: Buffer[]; isWhole: boolean };
type Arrived = { readonly secrets: Map<number, Incoming>; bytes: number; fault: string | undefined };

export function openSafe(workDir: WorkDir, identity: string, isRoot: boolean): Safe {
  const { path, inMemory } = placeOf(workDir, identity, isRoot);
  const arrived = new Map<string, Arrived>();
  const incoming = join(path, "incoming");
  const of = (lease: Lease): string => join(path, keyOf(lease));
  const incomingFile = (key: string, nth: number): string => join(incoming, key, String(nth));

  const accept = (record: Arrived, key: string, piece: Piece): void => {
    const bytes = Buffer.from(piece.data, "base64");
    const known = record.secrets.get(piece.nth);
    const secret = known ?? { as: piece.as, pieces: [], isWhole: false };
    record.secrets.set(piece.nth, secret);
    if (secret.isWhole || secret.as !== piece.as) throw new Error("a secret came twice");
    if (piece.as === "file") {
      mkdirSync(join(incoming, key), { recursive: true, mode: 0o700 });
      appendFileSync(incomingFile(key, piece.nth), bytes, { mode: 0o600 });
      bytes.fill(0);
    } else {
      record.bytes += bytes.length;
      if (record.bytes > MAX_VALUES) throw new Error(`its secrets have more than ${MAX_VALUES} bytes together`);
      secret.pieces.push(bytes);
    }
    secret.isWhole = piece.last;
  };

  const forget = (key: string): void => {
    for (const { pieces } of arrived.get(key)?.secrets.values() ?? []) for (const piece of pieces) piece.fill(0);
    if (arrived.delete(key)) rmSync(join(incoming, key), { recursive: true, force: true });
  };

  return {
    path,
    inMemory,
    take: (piece) => {
      const key = keyOf(piece);
      const record = arrived.get(key) ?? { secrets: new Map(), bytes: 0, fault: undefined };
      arrived.set(key, record);
      if (record.fault !== undefined) return;
      try {
        accept(record, key, piece);
      } catch (error) {
        record.fault = textOf(error);
      }
    },
    missing: (lease, uses) => {
      const record = arrived.get(keyOf(lease));
      if (record?.fault !== undefined) return `The secrets of the task could not be kept: ${record.fault}`;
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
    handOver: (lease, uses, owner) => {
      const key = keyOf(lease);
      const files = join(of(lease), "files");
      mkdirSync(of(lease), { mode: 0o700 });
      mkdirSync(files, { mode: 0o700 });
      const handed = uses.map(({ as, label }, nth): { text: string; mask: Buffer } => {
        if (as === "value") {
          const value = Buffer.concat(arrived.get(key)?.secrets.get(nth)?.pieces ?? []);
          return { text: value.toString(), mask: value };
        }
        const file = join(files, fileName(label, nth));
        renameSync(incomingFile(key, nth), file);
        chmodSync(file, 0o400);
        if (owner) chownSync(file, owner.uid, owner.gid);
        return { text: file, mask: beginningOf(file) };
      });
      const masks = handed.map(({ mask }) => mask);
      writeFileSync(join(of(lease), "masks"), masks.map((mask) => `${mask.toString("base64")}\n`).join(""), {
        mode: 0o600,
      });
      if (owner) {
        for (const folder of [of(lease), files]) chownSync(folder, 0, owner.gid);
        chmodSync(files, 0o750);
        chmodSync(of(lease), 0o710);
      }
      forget(key);
      return { texts: handed.map(({ text }) => text), masks };
    },
    masksOf: (lease) => {
      try {
        const lines = readFileSync(join(of(lease), "masks"), "utf8")
          .split("\n")
          .slice(0, -1);
        return lines.map((line) => Buffer.from(line, "base64"));
      } catch (error) {
        if (codeOf(error) === "ENOENT") return undefined;
        throw error;
      }
    },
    removeFiles: (lease) => rmSync(join(of(lease), "files"), { recursive: true, force: true }),
    remove: (lease) => rmSync(of(lease), { recursive: true, force: true }),
    clear: (held) => {
      const kept = new Set(held.map(keyOf));
      for (const name of readdirSync(path))
        if (!kept.has(name)) rmSync(join(path, name), { recursive: true, force: true });
    },
    close: () => {
      try {
        rmSync(incoming, { recursive: true, force: true });
        rmdirSync(path);
      } catch {
        // Steps go on, and need theirs.
      }
    },
  };
}

/** Which secret it is, for whoever looks; the number keeps two of one name apart. */
const fileName = (label: string, nth: number): string =>
  `${nth + 1}-${label.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 100)}`;

function beginningOf(file: string): Buffer {
  const fd = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(MAX_VALUE);
    return bytes.subarray(0, readSync(fd, bytes, 0, MAX_VALUE, 0));
  } finally {
    closeSync(fd);
  }
}

const TMPFS = 0x0102_1994;
const RAMFS = 0x8584_58f6;

/** The name says nothing, and nobody can guess it to be there first. */
function placeOf(
  workDir: WorkDir,
  identity: string,
  isRoot: boolean,
): { readonly path: string; readonly inMemory: boolean } {
  const name = `railhead-${createHash("sha256").update(`secrets of ${identity}`).digest("hex").slice(0, 32)}`;
  for (const memory of ["/dev/shm", "/run"]) {
    const path = join(memory, name);
    if (isInMemory(memory) && prepare(path, isRoot)) return { path, inMemory: true };
  }
  const path = join(workDir.path, "secrets");
  if (!prepare(path, isRoot)) throw new Error(`${path} cannot be used for the secrets of steps`);
  return { path, inMemory: false };
}

function isInMemory(folder: string): boolean {
  try {
    return [TMPFS, RAMFS].includes(Number(statfsSync(folder).type));
  } catch {
    return false;
  }
}

function prepare(path: string, isRoot: boolean): boolean {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const stat = lstatSync(path);
    if (!stat.isDirectory() || stat.uid !== process.getuid?.()) return false;
    chmodSync(path, isRoot ? 0o711 : 0o700);
    return true;
  } catch {
    return false;
  }
}
