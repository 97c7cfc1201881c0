/** Folders that every user can write to, so that a step may leave files there. */
import { readdirSync, realpathSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";

const KNOWN = ["/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock", "/var/lock", "/var/crash"];
/** Parents of such folders that programs create. */
const PARENTS = ["/run", "/var", "/dev"];
const MQUEUE = "/dev/mqueue";
const MQUEUE_TYPE = 0x1980_0202;

/** The public folders of this machine, each once. Folders elsewhere are not searched: that would walk all disks. */
export function publicFolders(): readonly string[] {
  const found = [...KNOWN, ...PARENTS.flatMap(childrenOf)].flatMap((path) => {
    const real = realPublicFolder(path);
    return real === undefined ? [] : [real];
  });
  return [...new Set(found)];
}

/** Undefined also where root has no permission, for example on a file system that another user has mounted. */
function realPublicFolder(path: string): string | undefined {
  try {
    const stat = statSync(path);
    return stat.isDirectory() && (stat.mode & 0o002) !== 0 ? realpathSync(path) : undefined;
  } catch {
    return undefined;
  }
}

function childrenOf(parent: string): readonly string[] {
  try {
    return readdirSync(parent, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(parent, name));
  } catch {
    return [];
  }
}

/** POSIX message queues are files only where their file system is mounted. */
export function hasQueues(): boolean {
  try {
    return statfsSync(MQUEUE).type === MQUEUE_TYPE;
  } catch {
    return false;
  }
}
