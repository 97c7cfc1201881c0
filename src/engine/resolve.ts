import { ExpressionError } from "./expression/error.ts";
import type { Scope } from "./expression/place.ts";
import { evaluateTemplate } from "./expression/template.ts";
import { isLarger } from "./expression/value.ts";
import type { ShellTemplate, ShellWork } from "./model.ts";

/** Bytes of `NAME=value` that Linux lets a process have in one variable, without the closing NUL. */
const MAX_VARIABLE_BYTES = 128 * 1024 - 1;

/** The work of a step with its expressions replaced. Throws ExpressionError; the message names the variable. */
export function resolveShell({ script, env, outputs }: ShellTemplate, scope: Scope): ShellWork {
  const filled = env.map(({ name, value }) => ({ name, value: variableValue(name, value, scope) }));
  return { kind: "shell", script, env: filled, outputs };
}

function variableValue(name: string, template: string, scope: Scope): string {
  const value = evaluateTemplate(template, scope);
  if (value.includes("\0")) {
    throw new ExpressionError("type", `Variable ${name} holds a NUL character, which no process can be given`, 0);
  }
  if (isLarger(`${name}=${value}`, MAX_VARIABLE_BYTES)) {
    throw new ExpressionError("limit", `Variable ${name} has more than ${MAX_VARIABLE_BYTES} bytes with its name`, 0);
  }
  return value;
}
