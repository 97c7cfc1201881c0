import { SECRET_INTEGER, SHEBANG, type Reason } from "./bash/reasons.ts";
import { rewrittenLine } from "./bash/rewrite.ts";
import { scanBash, type Scanned } from "./bash/scan.ts";
import type { Edit, Hole } from "./bash/scanner.ts";
import { faultAt, faultsOf } from "./expression/check.ts";
import { ExpressionError, aboutExpression } from "./expression/error.ts";
import { MAX_FAULTS, MAX_TEMPLATE_CHARS } from "./expression/limits.ts";
import { secretOf } from "./expression/secrets.ts";
import { hasExpression } from "./expression/template.ts";
import type { TextFault } from "./position.ts";

/**
 * An environment variable of the step and the expression, `<+` and `>` included, whose value it gets. `type`: Bash
 * calculates with the value, so that nothing but an integer may reach it.
 */
export type ScriptBinding = { readonly name: string; readonly expression: string; readonly type?: "Integer" };

/** `hint`: the line as it could be written. */
export type ScriptFault = TextFault & { readonly hint?: string };

export type BoundScript =
  | { readonly script: string; readonly bindings: readonly ScriptBinding[] }
  | { readonly faults: readonly ScriptFault[] };

/** Names of environment variables that begin like this are the engine's. */
export const BINDING_PREFIX = "RAILHEAD_EXPR_";

/**
 * Replaces every expression of a Bash script by a reference to an environment
 * variable, so that a value can never be read as code: `echo "<+a.b>"` becomes
 * `echo "${RAILHEAD_EXPR_1}"`. The same expression gets the same variable.
 * Single quotes are closed before the reference and opened again after it, and a
 * here-document whose delimiter is quoted is written as one that expands.
 *
 * Where Bash would evaluate the value as code, the answer is a list of faults with
 * their places in the script; so it is for an expression that could never be
 * resolved. Where Bash calculates with it, the binding says so. Unquoted, a value is
 * cut into words and matched against file names, as any variable is.
 *
 * `isSecret` tells variables that hold a secret. Expressions in comments stay as they are. A script without expressions is returned untouched.
 */
export function bindScript(script: string, isSecret: (expression: string) => boolean = () => false): BoundScript {
  if (!hasExpression(script)) return { script, bindings: [] };
  try {
    const scanned = scan(script);
    const refused = scanned.holes.map((hole) => ({ hole, reason: reasonOf(hole, script, isSecret) }));
    const faults: ScriptFault[] = [];
    for (const { hole, reason } of refused) {
      if (faults.length >= MAX_FAULTS) break;
      faults.push(...(reason === null ? errorsIn(hole, script) : [refusal(hole, reason, { script, ...scanned })]));
    }
    return faults.length > 0 ? { faults: faults.slice(0, MAX_FAULTS) } : bind(script, scanned);
  } catch (error) {
    if (error instanceof ExpressionError) return { faults: [faultAt(script, error)] };
    throw error;
  }
}

function scan(script: string): Scanned {
  if (script.length <= MAX_TEMPLATE_CHARS) return scanBash(script, (nth) => `${BINDING_PREFIX}${nth}`);
  throw new ExpressionError("limit", `The script has more than ${MAX_TEMPLATE_CHARS} characters`, MAX_TEMPLATE_CHARS);
}

/** The first line as far as it is looked at; the pattern is not linear in its length. */
const SHEBANG_CHARS = 256;
const SHELL_SHEBANG =
  /^#![ \t]*(?:\S*\/)?(?:env[ \t]+(?:-\S+[ \t]+)*)?(?:\S*\/)?(?:bash|sh|dash|ksh|zsh)(?:[ \t\r\n]|$)/;

const isForeign = (script: string): boolean =>
  script.startsWith("#!") && !SHELL_SHEBANG.test(script.slice(0, SHEBANG_CHARS));

function reasonOf(hole: Hole, script: string, isSecret: (expression: string) => boolean): Reason | null {
  if (isForeign(script)) return SHEBANG;
  const { part, isInteger, refusal: reason } = hole;
  if (reason || !isInteger) return reason;
  return secretOf(part.node) || isSecret(part.text) ? SECRET_INTEGER : null;
}

/** What can be said against the expression wherever it stands. Its offsets count from the text that it was read from. */
function errorsIn({ part, offset }: Hole, script: string): readonly ScriptFault[] {
  const errors = secretOf(part.node) ? [] : faultsOf(part);
  return errors.map(({ fault, message, offset: at }) =>
    faultAt(script, new ExpressionError(fault, message, at + offset - part.start)),
  );
}

function refusal(hole: Hole, reason: Reason, { script, holes }: Scanned & { readonly script: string }): ScriptFault {
  const error = aboutExpression(new ExpressionError("place", reason.text, hole.offset), hole.part.text);
  const hint = rewrittenLine(script, hole, holes);
  return { ...faultAt(script, error), ...(hint !== undefined && { hint }) };
}

function bind(script: string, { edits, holes, names }: Scanned): BoundScript {
  const integers = new Set(holes.filter(({ isInteger }) => isInteger).map(({ part }) => part.text));
  const bindings = [...names].map(([expression, name]): ScriptBinding =>
    integers.has(expression) ? { name, expression, type: "Integer" } : { name, expression },
  );
  return { script: edited(script, edits), bindings };
}

function edited(text: string, edits: readonly Edit[]): string {
  const pieces: string[] = [];
  let done = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    pieces.push(text.slice(done, edit.start), edit.text);
    done = edit.end;
  }
  return pieces.join("") + text.slice(done);
}
