import {
  aboutExpression,
  type Budget,
  countText,
  type EnvTemplate,
  evaluateTemplate,
  ExpressionError,
  isInteger,
  isLarger,
  newBudget,
  numberFault,
  type OutputTemplate,
  readsSecretOutput,
  resolveTarget,
  type Scope,
  secretsIn,
  type SecretsHome,
  type SecretsWork,
  type ShellTemplate,
  type ShellWork,
} from "../../engine/index.ts";
import { createSecretParts } from "../secret-parts.ts";

/** Bytes of `NAME=value` that Linux lets a process have in one variable, without the closing NUL. */
const MAX_VARIABLE_BYTES = 128 * 1024 - 1;

/**
 * The work of a step with its expressions replaced. Throws ExpressionError, whose message names the variable, and HostRefused. What a step
 * gets of values is bounded in sum, as each of its variables may read the same large payload.
 */
export function resolveShell(template: ShellTemplate, scope: Scope): ShellWork {
  const { script, env, outputs, home, target, kubernetes } = template;
  const budget = newBudget();
  countText(scope, script);
  const asking = home ? env.filter(({ value }) => secretsIn(value).length > 0 || readsSecretOutput(value, scope)) : [];
  const filled = env
    .filter((one) => !asking.includes(one))
    .map((one) => ({
      name: one.name,
      value: typed(one, checked(one.name, evaluateTemplate(one.value, scope, budget))),
    }));
  const work: ShellWork = { kind: "shell", script, env: filled, outputs: outputs.map(taken) };
  if (!home || (asking.length === 0 && !target && !kubernetes)) return work;
  const secrets = secretsOf(home, asking, scope, budget);
  if (kubernetes) {
    const namespace = evaluateTemplate(kubernetes.namespace, scope, budget);
    return { ...work, version: 2, secrets, kubernetes: { ...kubernetes, namespace } };
  }
  return target ? { ...work, secrets, target: resolveTarget(target, scope) } : { ...work, secrets };
}

/** A delegate reads all variables alike. */
const taken = ({ name, variable }: OutputTemplate) => ({ name, variable });

function secretsOf(home: SecretsHome, env: readonly EnvTemplate[], scope: Scope, budget: Budget): SecretsWork {
  const { uses, partsOf } = createSecretParts(scope);
  const made = env.map((one) => ({
    name: withoutType(one),
    parts: partsOf(one.value, (text) => checked(one.name, evaluateTemplate(text, scope, budget))),
  }));
  return { home, uses, env: made };
}

/** The value of a secret is put in on the delegate, where nothing looks at its type. */
function withoutType({ name, type, value }: EnvTemplate): string {
  if (type === undefined) return name;
  if (type === "Integer") {
    const reason = "the script calculates with it, and the value of a secret cannot be checked";
    throw aboutExpression(new ExpressionError("type", reason, 0), value);
  }
  throw new ExpressionError("type", `Variable ${name} has the type ${type}, which takes no secret`, 0);
}

function typed({ name, type, value: template }: EnvTemplate, value: string): string {
  if (type === "Integer" && !isInteger(value)) {
    const reason = "the script calculates with it, and its value is not an integer such as 3 or -12";
    throw aboutExpression(new ExpressionError("type", reason, 0), template);
  }
  const fault = type === "Number" ? numberFault(value) : undefined;
  if (fault === undefined) return value;
  throw new ExpressionError("type", `Variable ${name} cannot be used: ${fault}`, 0);
}

function checked(name: string, value: string): string {
  if (value.includes("\0")) {
    throw new ExpressionError("type", `Variable ${name} holds a NUL character, which no process can be given`, 0);
  }
  if (isLarger(`${name}=${value}`, MAX_VARIABLE_BYTES)) {
    throw new ExpressionError("limit", `Variable ${name} has more than ${MAX_VARIABLE_BYTES} bytes with its name`, 0);
  }
  return value;
}
