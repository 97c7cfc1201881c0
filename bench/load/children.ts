/** Child processes of a benchmark: bare shells for the floors, and helpers of our own that talk over IPC. */
import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** Starts Bash with a script, waits for its end, answers what it printed. */
export async function bash(script: string): Promise<string> {
  const child = spawn("bash", ["-c", script], { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  await once(child, "close");
  return printed;
}

/** Starts `bash -c :` and waits for its end. */
export async function bareStep(): Promise<void> {
  await once(spawn("bash", ["-c", ":"], { stdio: "ignore" }), "exit");
}

/** Runs `count` pieces of work, `atOnce` at a time. */
export async function inParallel(count: number, atOnce: number, work: (n: number) => Promise<unknown>): Promise<void> {
  let begun = 0;
  const lane = async (): Promise<void> => {
    while (begun < count) await work(begun++);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

export type Helper = {
  /** One question at a time. Rejects when the helper ends instead of answering. */
  readonly ask: <T>(question: unknown) => Promise<T>;
  readonly pid: number;
  readonly stop: () => Promise<void>;
};

/** A program of this folder in a process of its own; it ends when we do. */
export function startHelper(file: string): Helper {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)));
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${file} ended with code ${String(code)}`);
  });
  ended.catch(() => undefined);
  return {
    ask: async <T>(question: unknown): Promise<T> => {
      const answered = once(child, "message") as Promise<[T]>;
      child.send(question as object);
      const [answer] = await Promise.race([answered, ended]);
      return answer;
    },
    pid: child.pid ?? 0,
    stop: () => endChild(child, "SIGKILL"),
  };
}

export async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill(signal);
  await gone;
}
