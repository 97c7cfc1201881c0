/**
 * Allocates user ids to tasks, one for each that runs: the kernel keeps users apart where it does not keep groups
 * apart, in signals above all.
 *
 * The ids come from a range that no system rule assigns: above the ids of
 * containers (to 0x6fffffff) and of directory services (to 2000200000), below
 * 2^31, where programs may read an id as negative. The range is divided into
 * blocks. A work folder owns one block as long as it exists, since its tasks
 * outlive the delegate. One small database per machine records the owners; its
 * lock orders two delegates that claim at the same time.
 */
import { createHash } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf, Fault, FullDiskError, textOf, startError } from "../fault.ts";
import { idsOf, livingProcesses } from "../processes/processes.ts";
import { readRegularFile } from "../regular-file.ts";
import { type BlockRow, isRegistryFull, readBlocks, saveBlock } from "./step-id-store.ts";

export const FIRST_ID = 0x7800_0000;
const BLOCKS = 256;
const BLOCK_SIZE = 0x4_0000;
/**
 * Ids of each block that have a name. Where names are possible, steps get only these: an id is reused
 * after as many other tasks.
 */
const NAMED = 1024;

/** No task gets it: it is the last one for launchers of the first block. */
export const NEVER_A_STEP = FIRST_ID + BLOCK_SIZE - 1;

/** Beside the default work folders, none of which begins with a dot. */
export const REGISTRY = "/var/lib/railhead-delegate/.step-ids";

export type StepIds = {
  /** The ids that `allocate` returns, if each has a name. */
  readonly named: () => readonly number[] | undefined;
  /** The folder of the registry, as long as there is no space in it for a block of ids. */
  readonly fullFolder: () => string | undefined;
  /** The id belongs to this work folder, and no task, launcher or remaining process has it. */
  readonly isUnused: (id: number) => boolean;
  /** The id belongs to this work folder. */
  readonly isOurs: (id: number) => boolean;
  /** An id that is never given to a task. @throws Fault when all ids are in use */
  readonly allocateLauncherId: () => number | undefined;
  /** Allocates an id that no task, process or file in the work folder has. @throws Fault when none is free */
  readonly allocate: () => number;
  /** Reserves the id of a task that an earlier delegate started and that still exists. */
  readonly reserve: (id: number) => void;
  /** Releases the id after the task's processes have ended and its files are removed. */
  readonly release: (id: number) => void;
};

export type StepIdsClaim = {
  /** File of the machine's database. */
  readonly registry: string;
  /** Existing, links resolved; the caller has its lock. */
  readonly workDir: string;
  /**
   * Content of its file `identity`, whose lock the caller has. The block belongs to the identity, also when the folder
   * moves.
   */
  readonly identity: string;
  /** Numbers in [0, 1). */
  readonly chance: () => number;
  /** Ids that other users of the machine own, as pairs of first and last. */
  readonly foreign?: readonly Span[];
  /** Users and groups of all processes. */
  readonly alive?: ReadonlySet<number>;
  /** Tasks get only as many ids as can have names. */
  readonly isNamed?: boolean;
};

export type Span = readonly [first: number, last: number];

/**
 * @throws Fault when the registry cannot be used or no block is left; FullDiskError when a row for it cannot be written
 */
export function openStepIds(claim: StepIdsClaim): StepIds {
  const livingIds = claim.alive ?? idsInUse();
  const first = blockStart(claimBlock(claim, livingIds));
  // A process that an earlier delegate could not end keeps its id.
  const isOurs = (id: number): boolean => id >= first && id < first + BLOCK_SIZE;
  const used = new Set([...livingIds].filter(isOurs));
  const size = claim.isNamed ? NAMED : BLOCK_SIZE - NAMED;
  let next = Math.floor(claim.chance() * size);
  // Ids are allocated in turn, so that an id is reused as late as possible.
  const pick = (from: number, count: number, begin: number): number => {
    for (let tried = 0; tried < count; tried += 1) {
      const id = from + ((begin + tried) % count);
      if (used.has(id)) continue;
      used.add(id);
      return id;
    }
    throw startError("no user id is free for another task");
  };
  const named = claim.isNamed ? Array.from({ length: size }, (_, nth) => first + nth) : undefined;
  return {
    named: () => named,
    fullFolder: () => undefined,
    isUnused: (id) => isOurs(id) && !used.has(id),
    isOurs,
    allocateLauncherId: () => pick(first + BLOCK_SIZE - NAMED, NAMED, 0),
    allocate: () => {
      const id = pick(first, size, next);
      next = (id - first + 1) % size;
      return id;
    },
    reserve: (id) => void used.add(id),
    release: (id) => void used.delete(id),
  };
}

/**
 * Whether a process on this machine has an id of a block that the work folder owns. @param workDir its links resolved
 */
export function hasLivingSteps(registry: string, workDir: string): boolean {
  const own = readBlocks(registry).filter((row) => row.workDir === workDir);
  return own.some(({ block }) => hasLivingProcess(block, idsInUse()));
}

const blockStart = (block: number): number => FIRST_ID + block * BLOCK_SIZE;

/** Of all users, groups and ids set aside for user namespaces that this machine's files name. */
export function foreignSpans(): readonly Span[] {
  const single = ["/etc/passwd", "/etc/group"].flatMap((file) => fields(file).map((field) => Number(field[2])));
  const many = ["/etc/subuid", "/etc/subgid"].flatMap((file) =>
    fields(file).map((field): Span => [Number(field[1]), Number(field[1]) + Number(field[2]) - 1]),
  );
  return [...single.map((id): Span => [id, id]), ...many];
}

function fields(file: string): string[][] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.split(":"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

function claimBlock(claim: StepIdsClaim, alive: ReadonlySet<number>): number {
  try {
    return saveBlock(claim.registry, (rows) => chooseBlock(rows, claim, alive)).block;
  } catch (error) {
    if (error instanceof Fault) throw error;
    if (isRegistryFull(claim.registry, error))
      throw new FullDiskError(`no space is left for ${claim.registry}, from which steps get their user ids`);
    throw startError(
      `${claim.registry}, where the delegates of this machine record their user ids for steps, cannot be used: ${textOf(error)}; name one user for all steps with --step-user`,
    );
  }
}

/** The work folder's own block; otherwise the first without an owner, or whose folder and processes no longer exist. */
function chooseBlock(rows: readonly BlockRow[], claim: StepIdsClaim, alive: ReadonlySet<number>): BlockRow {
  const owner = hashOf(claim.identity);
  const own = rows.find((row) => row.owner === owner);
  const taken = new Set(rows.filter((row) => isInUse(row, alive)).map(({ block }) => block));
  const foreign = claim.foreign ?? foreignSpans();
  const isFree = (block: number): boolean => !taken.has(block) && !foreign.some((span) => overlaps(block, span));
  const block = own?.block ?? Array.from({ length: BLOCKS }, (_, n) => n).find(isFree);
  if (block === undefined)
    throw startError(
      `all ${BLOCKS} blocks of user ids for steps belong to work folders on this machine; delete unused work folders, or use --step-user`,
    );
  return { block, owner, workDir: claim.workDir };
}

/** @throws the system's error */
function isOfOwner({ owner, workDir }: BlockRow): boolean {
  const file = join(workDir, "identity");
  // A missing file is reported as such: the folder has no owner.
  lstatSync(file);
  const identity = readRegularFile(file);
  if (!identity) throw new Error(`${file} is no regular file`);
  return hashOf(identity.toString("utf8").trim()) === owner;
}

const hashOf = (identity: string): string => createHash("sha256").update(identity).digest("hex");

function isInUse(row: BlockRow, alive: ReadonlySet<number>): boolean {
  if (hasLivingProcess(row.block, alive)) return true;
  try {
    return isOfOwner(row);
  } catch (error) {
    // After an error of the disk the folder may still exist.
    return codeOf(error) !== "ENOENT" && codeOf(error) !== "ENOTDIR";
  }
}

function hasLivingProcess(block: number, alive: ReadonlySet<number>): boolean {
  const first = blockStart(block);
  return alive.values().some((id) => id >= first && id < first + BLOCK_SIZE);
}

const overlaps = (block: number, [first, last]: Span): boolean =>
  first < blockStart(block + 1) && last >= blockStart(block);

/** Users and groups of all processes. */
export function idsInUse(): ReadonlySet<number> {
  return new Set(
    livingProcesses(2).flatMap(({ pid }) => {
      const ids = idsOf(pid);
      return ids ? [...ids.uids, ...ids.gids] : [];
    }),
  );
}
