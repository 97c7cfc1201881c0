/** Child processes of a benchmark: bare shells for floors, and helpers that communicate over IPC. */
import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** Runs a script in Bash and returns its standard output. */
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

/** Calls `work` `count` times, `atOnce` at a time. */
export async function inParallel(count: number, atOnce: number, work: (n: number) => Promise<unknown>): Promise<void> {
  let started = 0;
  const lane = async (): Promise<void> => {
    while (started < count) await work(started++);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

export type Helper = {
  /** Sends a question and returns the answer; one at a time. Rejects if the helper ends without an answer. */
  readonly ask: <T>(question: unknown) => Promise<T>;
  readonly pid: number;
  readonly stop: () => Promise<void>;
};

/** Starts a program of this folder as a process. It ends with this process. */
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
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}
