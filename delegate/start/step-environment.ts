/** What steps need on this machine, examined once when the delegate starts. */
import { checkStepAccess } from "../isolation/check-step-access.ts";
import { type Isolation, withNamespaces } from "../isolation/isolation.ts";
import { logIsolation, logStepUser } from "../isolation/log-isolation.ts";
import type { Log } from "../log.ts";
import type { Options } from "../options.ts";
import { bootId } from "../processes/processes.ts";
import { openRuntimeFolder, type RuntimeFolder } from "../runtime-folder/runtime-folder.ts";
import { defaultSearchPath, findTools, type Tools } from "../tasks/step-command.ts";
import type { WorkFolder } from "../work-folder/claim.ts";
import { recordOwner } from "../work-folder/orphaned-folders.ts";
import type { WorkDir } from "../work-folder/work-dir.ts";

type Settings = Pick<Options, "stepPath" | "belongsTo" | "tags" | "slots">;

type Start = {
  readonly settings: Settings;
  readonly log: Log;
  readonly isRoot: boolean;
  readonly workFolder: Pick<WorkFolder, "workDir" | "secrets" | "user">;
};

export type StepEnvironment = {
  readonly runtimeFolder: RuntimeFolder;
  readonly searchPath: string;
  readonly tools: Tools;
  readonly bootId: string;
  readonly isolation: Isolation;
};

/**
 * Opens the folder in memory, and checks and logs what this machine permits.
 * @param found the isolation without name spaces
 * @throws Fault when the step user cannot work in the work folder
 */
export function prepareSteps({ settings, log, isRoot, workFolder }: Start, found: Isolation): StepEnvironment {
  const { workDir, secrets, user } = workFolder;
  const runtimeFolder = openRuntimeFolder(secrets.path, secrets.earlier);
  const searchPath = settings.stepPath ?? defaultSearchPath(process.env["PATH"], isRoot);
  const tools = findTools(`${searchPath}:${process.env["PATH"] ?? ""}`);
  checkStepAccess({ workDir, user, bash: tools.bash }, log);
  const boot = bootId();
  logStepUser(log, user, isRoot);
  logStart(log, settings, workDir);
  if (settings.belongsTo !== undefined) recordOwner(workDir, settings.belongsTo, log);
  const hiddenFolders = [settings.belongsTo, workDir.path, runtimeFolder.path].filter((path) => path !== undefined);
  const isolation = withNamespaces(found, user, hiddenFolders);
  logIsolation(log, isolation, user);
  return { runtimeFolder, searchPath, tools, bootId: boot, isolation };
}

const logStart = (log: Log, { tags, slots }: Settings, { path }: WorkDir): void =>
  log.info({ workDir: path, tags, slots }, "delegate starts");
