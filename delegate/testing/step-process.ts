/** Processes of steps, as the test sees them: in a name space of its own a step has other numbers than outside. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { livingProcesses, type ProcessIdentity } from "../processes/processes.ts";

/**
 * The living process that a step knows by this number.
 * @param folder of the step, or one that holds the folders of steps with different numbers
 */
export function stepProcess(folder: string, pid: number): ProcessIdentity {
  const living = livingProcesses(2);
  // The folder of a step is mounted in its name space of file systems.
  const apart = living.filter((info) => textOf(info.pid, "mountinfo").includes(` ${folder}/`));
  const found =
    apart.length > 0
      ? apart.filter((info) => numberWithin(info.pid) === pid)
      : living.filter((info) => info.pid === pid);
  const [one, ...more] = found;
  assert.ok(one && more.length === 0, `${found.length} living processes have the number ${pid} in ${folder}`);
  return { pid: one.pid, startTime: one.startTime };
}

/** The number in the innermost name space. */
const numberWithin = (pid: number): number => Number(/^NSpid:(?:\t\d+)*\t(\d+)$/m.exec(textOf(pid, "status"))?.[1]);

function textOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return ""; // gone meanwhile, or of another user
  }
}
