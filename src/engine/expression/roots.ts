import { ExpressionError } from "./error.ts";
import { REFUSED_ROOTS, ROOTS } from "./names/table.ts";
import { nearest } from "./nearest.ts";
import { NAMESPACES } from "./syntax.ts";

const NAMES: readonly string[] = ROOTS.filter(({ place }) => place === undefined).map(({ name }) => name);
/** The texts that can read a name, where only some can. */
const PLACES: ReadonlyMap<string, string | undefined> = new Map(ROOTS.map(({ name, place }) => [name, place]));
const REFUSED: ReadonlySet<string> = new Set(REFUSED_ROOTS.map(({ name }) => name));

/** The root of the expressions that ask for a secret; nothing else may begin with it. */
export const SECRETS = "secrets";

/**
 * Values are never evaluated: whatever made a part of another expression of a secret would make it a part of what is stored.
 * And its name is never computed: whoever could choose it would choose which secret is given away.
 */
const misplacedSecret = (at: number): ExpressionError =>
  new ExpressionError(
    "place",
    `a secret stands alone, its reference written out, as in <+secrets.getValue("account.name")> or <+secrets.getAsFile("account.name")>, in a script or in the value of an environment variable`,
    at,
  );

/** What submitted inputs are read by. Only the platform writes such expressions. */
export const INPUT_ROOT = "executionInput";

/** Whether a name of some texts has a value in this one. */
export type HasLocal = (name: string) => boolean;

/** Why a path may not begin with `name`; undefined when it may. */
export function refusalOfRoot(name: string, at: number, hasLocal: HasLocal): ExpressionError | undefined {
  if (NAMES.includes(name) || (name === INPUT_ROOT && hasLocal(name))) return undefined;
  const place = PLACES.get(name);
  if (place !== undefined) {
    return hasLocal(name) ? undefined : new ExpressionError("place", `'${name}' has a value only in ${place}`, at);
  }
  if (name === SECRETS) return misplacedSecret(at);
  if (name === "input") {
    return new ExpressionError("unknown", "it is a runtime input that was given no value", at);
  }
  if (NAMESPACES.has(name)) {
    return new ExpressionError("syntax", `'${name}' is no value, but stands before the name of a function`, at);
  }
  const begins = `an expression begins with ${NAMES.join(", ")}`;
  if (REFUSED.has(name)) {
    return new ExpressionError("unsupported", `this version does not run '${name}'; ${begins}`, at);
  }
  const near = nearest(name, [...NAMES, SECRETS, ...NAMESPACES]);
  const hint = near === undefined ? begins : `did you mean '${near}'?`;
  return new ExpressionError("unknown", `there is no '${name}'; ${hint}`, at);
}
