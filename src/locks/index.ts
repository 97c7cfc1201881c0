/** Locks of steps and stages: granted in the order of the requests, released when their holders end. */
import { findLockReasons, type ReasonDeps } from "./reasons.ts";
import { createServing, type ServeDeps } from "./serve.ts";
import { createLockService } from "./service.ts";

export const createLocks = (deps: ServeDeps & ReasonDeps) => {
  const { serveSoon, ...serving } = createServing(deps);
  return {
    ...serving,
    service: createLockService({ clock: deps.clock, serveSoon }),
    findReasons: findLockReasons(deps),
  };
};

export type Locks = ReturnType<typeof createLocks>;
