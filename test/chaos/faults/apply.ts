/** Applies a fault and reverts it when its time is up. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import { bootId } from "../../../delegate/processes/processes.ts";
import { journalsId } from "../../../delegate/work-folder/work-dir.ts";
import { toWire, type Uuid } from "../../../src/core/ids.ts";
import { postgresIn } from "../../../src/platform/db/embedded/process/processes.ts";
import { pretendDelegate } from "../../support/pretend-delegate.ts";
import { fillDisk, launchersOf } from "../checks/leftovers.ts";
import type { DelegateName, ProcessName } from "../names.ts";
import type { Fault, FaultAction } from "./plan.ts";
import type { Timeline } from "../timeline.ts";
import { SLOTS, type World } from "../platform/world.ts";

const MINUTE = 60_000;
/** Time that a database server needs to serve again after it was killed. */
const RECOVERY_MS = 2_000;
/** Time that a program needs from its start until it answers. */
const START_MS = 3_000;

/** Resolves when the fault has been reverted or the run is over. */
export async function applyFault(world: World, timeline: Timeline, fault: Fault, over: AbortSignal): Promise<void> {
  const end = timeline.begin(fault.target, fault.kind);
  const undo = await begin(world, fault);
  await pause(fault.seconds * 1_000, over);
  await undo();
  if (!over.aborted) await pause(afterwards(fault), over);
  end();
}

type Undo = () => Promise<void> | void;

function begin(world: World, fault: FaultAction): Promise<Undo> | Undo {
  switch (fault.kind) {
    case "kill":
      return down(world, fault.target, "SIGKILL");
    case "restart":
      return down(world, fault.target, "SIGTERM");
    case "stop":
      return fault.target === "database" ? stopDatabase(world) : stopProcess(world, fault.target);
    case "cut":
    case "stall":
    case "blackhole":
      world.links.get(fault.target)?.set(fault.kind);
      return () => world.links.get(fault.target)?.set("pass");
    case "kill database":
      return signalAll(world, "SIGKILL");
    case "kill backend":
      return killBackend(world);
    case "kill launcher":
      return signalLaunchers(world, fault.target, "SIGKILL");
    case "stop launcher":
      return signalLaunchers(world, fault.target, "SIGSTOP");
    case "clock":
      return setClock(world, fault.target, fault.minutes);
    case "fill disk":
      return fillDisk(world.workDir(fault.target));
    case "wrong epochs":
      return wrongEpochs(world, fault.target);
  }
}

/** Milliseconds for which a reverted fault still has effects. */
function afterwards({ kind }: FaultAction): number {
  if (kind === "kill" || kind === "restart" || kind === "wrong epochs") return START_MS;
  return kind === "kill database" || kind === "kill backend" ? RECOVERY_MS : 0;
}

async function down(world: World, name: ProcessName, signal: "SIGKILL" | "SIGTERM"): Promise<Undo> {
  const machine = world.machines.get(name);
  await machine?.end(signal);
  return () => machine?.start();
}

function stopProcess(world: World, name: ProcessName): Undo {
  world.machines.get(name)?.signal("SIGSTOP");
  return () => world.machines.get(name)?.signal("SIGCONT");
}

/** The file counts at the next start, the signal at once. The signal ends a process without a handler for it. */
async function setClock(world: World, name: ProcessName, minutes: number): Promise<Undo> {
  const machine = world.machines.get(name);
  if (machine?.pid() !== undefined) await machine.waitForOutput(/./, START_MS).catch(() => {});
  const pid = machine?.matchOutput(/./) ? machine.pid() : undefined;
  try {
    world.clocks.get(name)?.set(pid, { wallMs: minutes * MINUTE });
  } catch {
    // The process is down.
  }
  return () => {};
}

const cluster = ({ database }: World): string => join(database.location, "data");

async function signalAll(world: World, name: NodeJS.Signals): Promise<Undo> {
  for (const pid of await postgresIn(cluster(world))) send(pid, name);
  return () => {};
}

async function stopDatabase(world: World): Promise<Undo> {
  await signalAll(world, "SIGSTOP");
  return () => void signalAll(world, "SIGCONT");
}

/** Signals all launchers of a delegate: none before the first step, and several while an older launcher has steps. */
function signalLaunchers(world: World, name: DelegateName, signal: "SIGKILL" | "SIGSTOP"): Undo {
  const found = launchersOf(world.machines.get(name)?.pid());
  for (const pid of found) send(pid, signal);
  return () => {
    if (signal === "SIGSTOP") for (const pid of found) send(pid, "SIGCONT");
  };
}

/** PostgreSQL then restarts all backends, because their shared memory may be damaged. */
async function killBackend(world: World): Promise<Undo> {
  const [row] = await world.db
    .query<{ pid: number }>(
      `select pid from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid() and datname = current_database()
        order by state_change desc limit 1`,
    )
    .catch(() => []);
  if (row) send(row.pid, "SIGKILL");
  return () => {};
}

function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended.
  }
}

/**
 * Simulates a delegate whose work folder was restored from an old copy: another program with its identity reports each
 * lease with a wrong epoch, and reports the tasks as successfully finished.
 */
async function wrongEpochs(world: World, name: DelegateName): Promise<Undo> {
  const undo = await down(world, name, "SIGKILL");
  await reportWrongEpochs(world, name).catch(() => {});
  return undo;
}

const REPORT_MS = 5_000;

async function reportWrongEpochs(world: World, name: DelegateName): Promise<void> {
  const leased = await world.db.query<{ id: Uuid; epoch: number }>(
    `select t.id, t.epoch from tasks t join delegates d on d.account_id = t.account_id and d.id = t.delegate_id
      where t.status = 'leased' and d.name = $1`,
    [name],
  );
  const holds = leased.map(({ id, epoch }) => ({ task: toWire(id), epoch: epoch + 1 }));
  const link = world.links.get(`${name} link`)?.port;
  const connecting = pretendDelegate({
    url: `http://127.0.0.1:${link}`,
    token: world.delegateToken,
    name,
    tags: ["chaos"],
    slots: SLOTS,
    identity: readFileSync(join(world.workDir(name), "identity"), "utf8").trim(),
    // Restored in place: the folder is the same.
    bootId: journalsId(bootId(), { tasks: join(world.workDir(name), "tasks") }),
    holds,
  });
  // A link that is cut or a server that does not respond ends this attempt, not the run.
  const late = rest(REPORT_MS).then(() => undefined);
  const copy = await Promise.race([connecting, late]);
  if (!copy) return void connecting.then((one) => one.cut()).catch(() => {});
  if (await Promise.race([copy.next("welcome"), late])) {
    for (const lease of holds) copy.finish(lease);
    await Promise.race([Promise.all(holds.map(() => copy.next("finishedAck"))), copy.closed, rest(REPORT_MS / 10)]);
  }
  await copy.cut();
}

const pause = (ms: number, over: AbortSignal): Promise<void> => rest(ms, undefined, { signal: over }).catch(() => {});
