/**
 * Claims the block of step-ids.ts later, for a delegate that starts while the file system of the registry is full. If
 * the registry has its block already, nothing is written. Otherwise it starts without ids, so that it can report and
 * remove what earlier tasks left, which gives space. It claims its block with the first task after that.
 */
import { dirname } from "node:path";
import { FullDiskError } from "../fault.ts";
import { openStepIds, type StepIds, type StepIdsClaim } from "./step-ids.ts";

/** @throws Fault when the registry cannot be used for another reason than a full disk, or no block is left */
export function openStepIdsWithSpace(claim: StepIdsClaim): StepIds {
  try {
    return openStepIds(claim);
  } catch (error) {
    if (!(error instanceof FullDiskError)) throw error;
    return createDeferredIds(claim);
  }
}

function createDeferredIds(claim: StepIdsClaim): StepIds {
  let ids: StepIds | undefined;
  /** Of tasks that an earlier delegate has left. */
  const reserved = new Set<number>();
  const open = (): StepIds => {
    if (ids) return ids;
    const opened = openStepIds(claim);
    for (const id of reserved) opened.reserve(id);
    ids = opened;
    return opened;
  };
  return {
    named: () => ids?.named(),
    fullFolder: () => (ids ? undefined : dirname(claim.registry)),
    isUnused: (id) => ids?.isUnused(id) ?? false,
    isOurs: (id) => ids?.isOurs(id) ?? false,
    allocateLauncherId: () => ids?.allocateLauncherId(),
    allocate: () => open().allocate(),
    reserve: (id) => (ids ? ids.reserve(id) : void reserved.add(id)),
    release: (id) => {
      reserved.delete(id);
      ids?.release(id);
    },
  };
}
