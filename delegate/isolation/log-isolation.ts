/** What the log says at the start about how steps are isolated, with a warning for each protection that is missing. */
import { mayHaveSessionKeyring } from "../leftovers/keyrings.ts";
import type { Log } from "../log.ts";
import { createTerminationMethodOf, type Isolation } from "./isolation.ts";
import type { StepUser } from "./step-user.ts";

type IsolationLog = Pick<Log, "info" | "warn">;

/** Logs the isolation in use, with a warning for each protection that is missing. */
export function logIsolation(log: IsolationLog, isolation: Isolation, user: StepUser): void {
  const means = {
    users: user.separation,
    end: createTerminationMethodOf(isolation)(
      user.separation === "own users" ? { uid: 1, gid: 1, ownUser: true } : undefined,
    ),
    noNewPrivileges: isolation.setpriv !== undefined && !isolation.mayGainPrivileges,
    userDatabase: user.separation === "own users" && isolation.unshare !== undefined,
  };
  log.info(means, "isolation of steps");
  if (isolation.setpriv === undefined)
    log.warn(
      "this machine has no setpriv of util-linux: steps can gain rights by set-user-id files, and some of their processes may not be terminated",
    );
  else if (isolation.mayGainPrivileges)
    log.warn(
      "steps may gain rights (--allow-privilege-escalation): the isolation does not cover processes that do, and some of them may not be terminated",
    );
  if (user.separation !== "own users" && isolation.namespaces === undefined)
    log.warn(
      "name spaces are not permitted here, or would not let steps gain rights: steps share a user, and some of their processes may not be terminated",
    );
  if (user.separation === "own users" && isolation.unshare === undefined)
    log.warn(
      "name spaces of file systems are not permitted here: the users of steps have no names and no home folders",
    );
}

/** Logs as which users steps run. */
export function logStepUser(log: IsolationLog, user: StepUser, isRoot: boolean): void {
  logKeyring(log, isRoot);
  switch (user.separation) {
    case "delegate": {
      const more = isRoot ? "root, and can do anything here" : "the delegate's own user, and can read its files";
      return log.warn({ user: user.name }, `steps run as ${more}`);
    }
    case "own users":
      return log.info("each task runs as a user of its own");
    case "own groups":
      return log.warn(
        { user: user.name },
        "steps run as one user, each task in a group of its own: they can end each other's processes, but not read each other's files",
      );
    case "nothing own":
      return log.warn(
        { user: user.name },
        "steps run as one user and can end and read each other's processes: this machine does not allow free user ids",
      );
  }
}

function logKeyring(log: IsolationLog, isRoot: boolean): void {
  if (isRoot && mayHaveSessionKeyring())
    log.warn(
      "the delegate may have a session keyring, which all steps would share; start it with KeyringMode=inherit, or outside of a login session",
    );
}
