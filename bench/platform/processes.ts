/** What the kernel says of the server's processes. */
import { readFileSync } from "node:fs";

/** The child whose command line, or title, has the word among its words; undefined without one. */
export function childOf(pid: number, word: string): number | undefined {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const found = children.find(
    (child) => child !== "" && readFileSync(`/proc/${child}/cmdline`, "utf8").split(/[\0 ]/).includes(word),
  );
  return found === undefined ? undefined : Number(found);
}

export type Memory = {
  /** Resident, pages shared with other processes included: the sum of two Nodes counts Node's own code twice. */
  readonly rss: number;
  /** The same with each shared page divided by the number of its users. */
  readonly pss: number;
};

/** In MiB. */
export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const field = (name: string): number => {
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1];
    return Number(kilobytes) / 1_024;
  };
  return { rss: field("Rss"), pss: field("Pss") };
}

const TICKS_PER_SECOND = 100;
/** A load on a server for this long costs it more than one tick, however little of it is left by others. */
export const ENOUGH_TICKS_MS = 300;

/** Seconds of processor time so far, its children's not included. */
export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
