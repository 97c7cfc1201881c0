/**
 * The program `railhead delegate`, as cli/railhead.js starts it: options, token, signals and exit codes. delegate.ts
 * builds what it runs.
 */
import process from "node:process";
import { startDelegate, defaultTimes } from "./delegate.ts";
import { unknownVariables } from "../src/platform/variables/variables.ts";
import { Fault } from "./fault.ts";
import { closeInheritedDescriptors } from "./processes/inherited-descriptors.ts";
import { stderrLog } from "./log.ts";
import { parseOptions } from "./options.ts";
import { systemTimers } from "./timers.ts";
import { onClosed, readToken } from "./token.ts";

/** The server refused this delegate: a restart with the same options will not help. */
const REFUSED = 3;

/**
 * `railhead delegate …`, with the arguments after that word. Resolves with the
 * exit code when the delegate has ended: 0 asked to stop, 1 cannot run here,
 * 2 wrong options, 3 refused by the server. Steps never end with it.
 */
export async function main(argv: readonly string[]): Promise<number> {
  closeInheritedDescriptors();
  try {
    const parsed = parseOptions(argv, process.env);
    // Steps, dumps and programs that print the environment must not see the token.
    delete process.env["RAILHEAD_DELEGATE_TOKEN"];
    if (parsed.kind === "help") {
      process.stdout.write(parsed.text);
      return 0;
    }
    // A token given by --token is in the argument list, which everyone can read: this writes over it.
    process.title = "railhead delegate";
    return await run(parsed.options);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    process.stderr.write(`railhead delegate: ${error.message}\n`);
    return error.exitCode;
  }
}

async function run({
  token: source,
  ...options
}: Extract<ReturnType<typeof parseOptions>, { kind: "run" }>["options"]): Promise<number> {
  const token = await readToken(source, process.stdin);
  // Exits at once: the delegate of the next server must find the work folder unlocked.
  if (options.local) onClosed(process.stdin, () => process.exit(0));
  const log = stderrLog();
  for (const { variable, message } of unknownVariables(process.env, "delegate")) log.warn({ variable }, message);
  const delegate = await startDelegate(
    { ...options, token },
    { ...defaultTimes, timers: systemTimers, chance: Math.random, log },
  );
  const asked = Promise.withResolvers<string>();
  // A local delegate ends with its server, at the end of its standard input, and ignores SIGHUP.
  if (options.local) process.on("SIGHUP", () => {});
  // An existing listener means that SIGHUP is ignored (scripts/guard.js).
  const hangup = process.listenerCount("SIGHUP") > 0 ? [] : (["SIGHUP"] as const);
  for (const signal of ["SIGTERM", "SIGINT", ...hangup] as const) process.once(signal, () => asked.resolve(signal));
  const code = await Promise.race([
    delegate.refused.then((message) => {
      log.error({ refusal: message }, "the server refuses this delegate");
      process.stderr.write(`railhead delegate: ${message}\n`);
      return REFUSED;
    }),
    asked.promise.then((signal) => {
      log.info({ signal }, "delegate stops; running steps continue");
      return 0;
    }),
  ]);
  await delegate.stop();
  return code;
}

// Watchers and timers of steps would keep the process running.
if (import.meta.main) process.exit(await main(process.argv.slice(2)));
