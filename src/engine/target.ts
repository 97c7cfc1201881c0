/** The host that a step runs on instead of its delegate. */
import { ExpressionError } from "./expression/error.ts";
import type { Scope } from "./expression/place.ts";
import { evaluateTemplate, hasExpression } from "./expression/template.ts";
import type { Target, TargetTemplate } from "./model.ts";

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}$/;
const ADDRESS = /^[0-9A-Fa-f:]{2,39}(?:[0-9.]{7,15})?$/;
const CONTROL = /\p{Cc}/u;
const MAX_FOLDER = 4096;

/** What is wrong with a host's name; undefined when nothing is. No name can be taken for an option, a user or a port. */
export function hostFault(host: string): string | undefined {
  if (NAME.test(host) || (host.includes(":") && ADDRESS.test(host))) return undefined;
  return "A host is a name or an address: letters, digits, - _ and . (in an IPv6 address :), beginning with none of - and ., 253 at most; user and port stand in the credential";
}

export function folderFault(folder: string): string | undefined {
  if (folder !== "" && folder.length <= MAX_FOLDER && !CONTROL.test(folder)) return undefined;
  return `A working directory has 1 to ${MAX_FOLDER} characters, none of them a control character`;
}

/** The host is not one that the author of the pipeline allows. */
export class HostRefused extends Error {
  override readonly name = "HostRefused";
}

/**
 * The target with its expressions replaced. Throws ExpressionError for a value that names no host or no folder, and
 * HostRefused for a host that the plan does not allow.
 */
export function resolveTarget({ hosts, ...target }: TargetTemplate, scope: Scope): Target {
  const host = checked("host", evaluateTemplate(target.host, scope), hostFault);
  requireAllowed(host, hosts ?? former(target.host));
  if (target.workingDirectory === undefined) return { ...target, host };
  const folder = evaluateTemplate(target.workingDirectory, scope);
  return { ...target, host, workingDirectory: checked("workingDirectory", folder, folderFault) };
}

function requireAllowed(host: string, allowed: readonly string[]): void {
  if (allowed.includes(host)) return;
  throw new HostRefused(
    "executionTarget.host has come to a host that the author of the pipeline does not allow: the step would give it its login and its secrets",
  );
}

/** What a plan without a list of hosts allows. */
function former(host: string): readonly string[] {
  if (!hasExpression(host)) return [host];
  throw new HostRefused(
    "This execution was started by a former version of Railhead, which did not note the hosts that the author of the pipeline allows, and executionTarget.host is an expression: run the pipeline again",
  );
}

function checked(field: string, value: string, faultOf: (value: string) => string | undefined): string {
  const fault = faultOf(value);
  if (fault === undefined) return value;
  throw new ExpressionError("type", `executionTarget.${field} has come to a value that cannot be used. ${fault}`, 0);
}
