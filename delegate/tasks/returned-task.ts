/** A task that did not start and is returned to the server. It stays until the server answers with `drop`. */
import type { Lease, Link } from "../output/shipper.ts";
import type { LeasedTask } from "./task.ts";

/** @param left files and user from an earlier delegate; removed with the task */
export function createReturnedTask(
  lease: Lease,
  reason: string,
  left: Partial<Pick<LeasedTask, "folder" | "owner">> = {},
): LeasedTask {
  let link: Link | undefined;
  return {
    lease,
    folder: left.folder,
    owner: left.owner,
    connect: (to) => {
      link = to;
      link.send({ kind: "returned", ...lease, reason: reason.slice(0, 1024) });
    },
    disconnect: () => {
      link = undefined;
    },
    acknowledge: () => false,
    hasEnded: () => false,
    isClean: () => true,
    // The server cancels the task when it is returned.
    cancel: async () => {},
    drop: async () => {},
    detach: () => {},
  };
}
