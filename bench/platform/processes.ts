/** Facts about processes from the kernel (/proc). */
import { readFileSync } from "node:fs";

/** The pid of a child whose command line or title contains the word; undefined if there is none. */
export function childOf(pid: number, word: string): number | undefined {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const found = children.find(
    (child) => child !== "" && readFileSync(`/proc/${child}/cmdline`, "utf8").split(/[\0 ]/).includes(word),
  );
  return found === undefined ? undefined : Number(found);
}

export type Memory = {
  /** Resident pages, including shared ones: the sum over two Node processes counts Node's code twice. */
  readonly rss: number;
  /** Resident pages, with each shared page divided by the number of processes that use it. */
  readonly pss: number;
};

/** The memory of a process in MiB. */
export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const field = (name: string): number => {
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1];
    return Number(kilobytes) / 1_024;
  };
  return { rss: field("Rss"), pss: field("Pss") };
}

const TICKS_PER_SECOND = 100;
/** A load of this many milliseconds costs a server more than one tick, even on a busy machine. */
export const ENOUGH_TICKS_MS = 300;

/** Processor time of a process in seconds, without its children. */
export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
