/** A task that never started here and goes back to the server. It is held until the server has taken it back. */
import type { Lease, Link } from "../output/shipper.ts";
import type { LeasedTask } from "./task.ts";

/** @param left what an earlier delegate had made for it; removed with the task */
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
    // The server ends a task that it wants ended when it comes back.
    cancel: async () => {},
    drop: async () => {},
    detach: () => {},
  };
}
