import type { ShellTask } from "../../protocol/messages.ts";

/** Linux's limit of one environment variable in bytes, without the closing NUL. */
const MAX_VARIABLE = 128 * 1024 - 1;

/**
 * Adds the variables that hold secrets to the task's environment.
 * @param secretValues value of each secret, or the path of its file
 * @throws when a variable cannot hold its value
 */
export function withSecretVariables(work: ShellTask, secretValues: readonly string[] = []): ShellTask {
  const variables = (work.secrets?.env ?? []).map(({ name, parts }) => {
    const value = parts.map((part) => (typeof part === "string" ? part : (secretValues[part] ?? ""))).join("");
    if (value.includes("\0"))
      throw new Error(`the variable ${name} would hold a NUL character, which no process can be given`);
    if (Buffer.byteLength(`${name}=${value}`) > MAX_VARIABLE)
      throw new Error(`the variable ${name} would have more than ${MAX_VARIABLE} bytes with its name`);
    return { name, value };
  });
  return { ...work, env: [...work.env, ...variables] };
}
