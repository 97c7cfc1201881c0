/**
 * The kind that calls a program, such as a client of a key service or of a hardware token. A manager names one of the
 * programs that the operator allows; it cannot name a path or an argument.
 *
 * The program is called without a shell, with `wrap` or `unwrap` as its last argument. It reads one line of JSON and
 * writes another. `wrap` gets `{account, manager, record, key}` and writes `{keyId, wrapped}`; `unwrap` gets
 * `{account, manager, record, keyId, wrapped}` and writes `{key}`. `key` and `wrapped` are base64. An exit code other
 * than 0 is a failure.
 */
import { z } from "zod";
import { toWire } from "../../../core/ids.ts";
import { createFairTurns } from "../../../platform/fair-turns.ts";
import { quoteErrorOutput, runBounded } from "../../../platform/run-bounded.ts";
import { problem } from "../../problems.ts";
import { ManagerFailed, type KindDeps, type ManagerKind, type ManagerRef } from "./kind.ts";

const spec = z.strictObject({
  command: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "is the name of a program that the operator of the server allows"),
});

export const command: ManagerKind<z.output<typeof spec>> = {
  type: "Command",
  spec,
  wrapper: (deps) => {
    const callProgram = createProgramCall(deps);
    return {
      async wrap(manager, dataKey, identity) {
        const answer = await callProgram(
          manager,
          "wrap",
          { record: identity, key: dataKey.toString("base64") },
          wrapAnswer,
        );
        return { keyId: answer.keyId, wrapped: Buffer.from(answer.wrapped, "base64") };
      },
      async unwrap(manager, { keyId, wrapped }, identity) {
        const request = { record: identity, keyId, wrapped: wrapped.toString("base64") };
        const { key } = await callProgram(manager, "unwrap", request, unwrapAnswer);
        const dataKey = Buffer.from(key, "base64");
        if (dataKey.length !== KEY_BYTES)
          throw new ManagerFailed(`its answer has ${dataKey.length} bytes instead of ${KEY_BYTES}`);
        return dataKey;
      },
    };
  },
};

const KEY_BYTES = 32;
const TIMEOUT_MS = 10_000;
const MAX_OUTPUT = 16 * 1024;
/**
 * Limits of processes and of waiting calls. Saving and opening are separate groups of an account, so that many saves do
 * not delay its steps. Both groups together leave two processes to other accounts.
 */
const TURNS = { atOnce: 8, atOnceOfOne: 3, waiting: 10_000, waitingOfOne: 2_000 };
/** Milliseconds. A request that saves a secret waits for a shorter time than a step that opens one. */
const WAIT_MS = { wrap: 20_000, unwrap: 120_000 };

const base64 = z.base64().min(1).max(8_192);
const wrapAnswer = z.object({ keyId: z.string().min(1).max(200), wrapped: base64 });
const unwrapAnswer = z.object({ key: base64 });

function createProgramCall({ commands, elapsed }: Pick<KindDeps, "commands" | "elapsed">) {
  const inTurn = createFairTurns(TURNS, elapsed);
  return async <T>(
    manager: ManagerRef,
    operation: keyof typeof WAIT_MS,
    request: object,
    answer: z.ZodType<T>,
  ): Promise<T> => {
    const { command: name } = spec.parse(manager.spec);
    const words = commands.get(name);
    if (!words) throw new ManagerFailed(`the operator of this server allows no program named ${name}`);
    const about = { account: toWire(manager.accountId), manager: toWire(manager.managerId) };
    const input = Buffer.from(`${JSON.stringify({ ...about, ...request })}\n`);
    const outcome = await inTurn(`${manager.accountId} ${operation}`, elapsed() + WAIT_MS[operation], () =>
      runBounded({
        words: [...words, operation],
        input,
        env: process.env,
        timeoutMs: TIMEOUT_MS,
        maxOutput: MAX_OUTPUT,
      }),
    );
    if (!outcome) throw problem("secret.manager_busy", [], { retryAfter: 5 });
    const failure = outcome.code === null ? outcome.why : outcome.code === 0 ? undefined : `exit code ${outcome.code}`;
    if (failure !== undefined)
      throw new ManagerFailed(`${name} ${operation}: ${failure}${quoteErrorOutput(outcome.errorOutput)}`);
    const parsed = answer.safeParse(parseJson(outcome.output));
    // The answer is not quoted, because it may contain a key.
    if (!parsed.success) throw new ManagerFailed(`${name} ${operation}: its answer has an unexpected form`);
    return parsed.data;
  };
}

function parseJson(output: Buffer): unknown {
  try {
    return JSON.parse(output.toString("utf8"));
  } catch {
    return undefined;
  }
}
