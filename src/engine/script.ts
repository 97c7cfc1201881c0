import { SHEBANG } from "./bash/reasons.ts";
import { scanBash } from "./bash/scan.ts";
import type { Hole } from "./bash/scanner.ts";
import { faultAt, faultsOf } from "./expression/check.ts";
import { ExpressionError, aboutExpression } from "./expression/error.ts";
import { MAX_FAULTS, MAX_TEMPLATE_CHARS } from "./expression/limits.ts";
import { secretOf } from "./expression/secrets.ts";
import { hasExpression } from "./expression/template.ts";
import type { TextFault } from "./position.ts";

/** An environment variable of the step and the expression, `<+` and `>` included, whose value it gets. */
export type ScriptBinding = { readonly name: string; readonly expression: string };

export type BoundScript =
  | { readonly script: string; readonly bindings: readonly ScriptBinding[] }
  | { readonly faults: readonly TextFault[] };

/** Names of environment variables that begin like this are the engine's. */
export const BINDING_PREFIX = "RAILHEAD_EXPR_";

/**
 * Replaces every expression of a Bash script by a reference to an environment
 * variable, so that a value can never be read as code: `echo "<+a.b>"` becomes
 * `echo "${RAILHEAD_EXPR_1}"`. The same expression gets the same variable.
 *
 * Where Bash would not expand the variable, or would evaluate its value, the
 * answer is a list of faults with their places in the script; so it is for an
 * expression that could never be resolved. Unquoted, a value is cut into words
 * and matched against file names, as any variable is.
 *
 * Expressions in comments stay as they are. A script without expressions is returned untouched.
 */
export function bindScript(script: string): BoundScript {
  if (!hasExpression(script)) return { script, bindings: [] };
  try {
    const holes = holesOf(script);
    const errors: ExpressionError[] = [];
    for (const hole of holes) if (errors.length < MAX_FAULTS) errors.push(...errorsOf(hole, script));
    if (errors.length > 0) return { faults: errors.slice(0, MAX_FAULTS).map((error) => faultAt(script, error)) };
    return bind(script, holes);
  } catch (error) {
    if (error instanceof ExpressionError) return { faults: [faultAt(script, error)] };
    throw error;
  }
}

function holesOf(script: string): readonly Hole[] {
  if (script.length <= MAX_TEMPLATE_CHARS) return scanBash(script);
  throw new ExpressionError("limit", `The script has more than ${MAX_TEMPLATE_CHARS} characters`, MAX_TEMPLATE_CHARS);
}

/** The first line as far as it is looked at; the pattern is not linear in its length. */
const SHEBANG_CHARS = 256;
const SHELL_SHEBANG =
  /^#![ \t]*(?:\S*\/)?(?:env[ \t]+(?:-\S+[ \t]+)*)?(?:\S*\/)?(?:bash|sh|dash|ksh|zsh)(?:[ \t\r\n]|$)/;

const isForeign = (script: string): boolean =>
  script.startsWith("#!") && !SHELL_SHEBANG.test(script.slice(0, SHEBANG_CHARS));

function errorsOf({ part, refusal }: Hole, script: string): readonly ExpressionError[] {
  const reason = isForeign(script) ? SHEBANG : refusal;
  if (reason === null) return secretOf(part.node) ? [] : faultsOf(part);
  return [aboutExpression(new ExpressionError("place", reason, part.start), part.text)];
}

function bind(script: string, holes: readonly Hole[]): BoundScript {
  const names = new Map<string, string>();
  const pieces: string[] = [];
  let done = 0;
  for (const { part } of holes) {
    const name = names.get(part.text) ?? `${BINDING_PREFIX}${names.size + 1}`;
    names.set(part.text, name);
    pieces.push(script.slice(done, part.start), `\${${name}}`);
    done = part.end;
  }
  const bindings = [...names].map(([expression, name]) => ({ name, expression }));
  return { script: pieces.join("") + script.slice(done), bindings };
}
