/** The launcher of a delegate, and the search for leftovers, which follows it into its file systems. */
import { join } from "node:path";
import { launcherCommand } from "../isolation/isolation.ts";
import type { UserDatabase } from "../isolation/user-database.ts";
import { createLauncher, type Launcher, type LauncherDeps } from "../launcher/client/client.ts";
import { createLeftovers, type Leftovers, type LeftoversDeps } from "../leftovers/leftovers.ts";
import { publicFolders } from "../leftovers/public-folders.ts";
import { createQueueFolder, queueFolderOf } from "../leftovers/queue-folder.ts";
import type { WorkFolder } from "../work-folder/claim.ts";
import type { StepEnvironment } from "./step-environment.ts";

type Place = Pick<WorkFolder, "workDir" | "user">;

/** Creates the launcher of the steps. Its machine's users and message queues are in the work folder. */
export function createDelegateLauncher(
  { log, timers }: Pick<LauncherDeps, "log" | "timers">,
  { workDir, user }: Place,
  { isolation, tools, runtimeFolder }: StepEnvironment,
): Launcher {
  const database = (): UserDatabase | undefined => {
    const { names } = user;
    return (
      names && {
        folder: join(workDir.path, "users"),
        sources: ["/etc/passwd", "/etc/group"],
        users: () => Array.from(names, ([id, name]) => ({ id, name, home: runtimeFolder.homeOf(id) })),
        shell: tools.bash,
      }
    );
  };
  return createLauncher({
    log,
    timers,
    command: launcherCommand(isolation, { user, database, queues: () => createQueueFolder(workDir, user) }),
    folder: runtimeFolder.path,
    mkfifo: tools.mkfifo,
  });
}

/** Creates the search for what steps have left behind, also in the file systems that only a launcher sees. */
export function createDelegateLeftovers(
  { log, timers, everyMs }: Pick<LeftoversDeps, "log" | "timers" | "everyMs">,
  { workDir, user }: Place,
  launcher: Pick<Launcher, "root">,
): Leftovers {
  const shared = publicFolders();
  const folders = (): readonly string[] => {
    const root = launcher.root();
    return root === undefined ? shared : [...shared, join(root, queueFolderOf(workDir))];
  };
  return createLeftovers({ log, timers, everyMs, user, folders });
}
