/** Names stage and step beside the path of a fault, and says what to do about it. */
import { Problem, type Fault } from "../../core/problem.ts";
import { nearest } from "../../engine/index.ts";

// The document may have any shape: faults of one that is no pipeline have places, too.
const STAGE = /^pipeline\.stages\[\d+\](?:\.parallel\[\d+\])*\.stage(?=[.[]|$)/;
const LIST = String.raw`\.(?:steps|rollbackSteps)\[\d+\](?:\.parallel\[\d+\])*`;
const STEP = new RegExp(String.raw`${STAGE.source}\.spec\.execution(?:${LIST}\.stepGroup)*${LIST}\.step(?=[.[]|$)`);

/** The same faults with their places, thrown anew; whatever else is thrown stays as it is. */
export function withPlaces<T>(value: unknown, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw placed(error, value);
  }
}

/** The error with the places of its faults in the document `value`. */
export function placed(error: unknown, value: unknown): unknown {
  if (!(error instanceof Problem) || error.faults.length === 0) return error;
  const { code, status, wire, message, cause, retryAfter, refusal } = error;
  const faults = error.faults.map((fault) => placedFault(fault, value));
  return new Problem(code, status, wire, message, {
    faults,
    cause,
    refusal,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}

function placedFault(fault: Fault, value: unknown): Fault {
  const hint = fault.about?.hint ?? hintOf(fault);
  const stagePath = STAGE.exec(fault.path)?.[0];
  const stepPath = STEP.exec(fault.path)?.[0];
  return {
    ...fault,
    about: {
      ...(hint !== undefined && { hint }),
      ...(stagePath !== undefined && { stage: nodeAt(value, stagePath) }),
      ...(stepPath !== undefined && { step: nodeAt(value, stepPath) }),
    },
  };
}

function nodeAt(value: unknown, path: string): Readonly<Record<string, string | null>> {
  const map = at(value, ...(path.match(/\w+/g) ?? []));
  const text = (key: string): string | null => {
    const found = at(map, key);
    return typeof found === "string" ? found : null;
  };
  return { identifier: text("identifier"), name: text("name"), type: text("type"), fqn: path };
}

function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[key];
  }
  return found;
}

const HINTS: readonly (readonly [RegExp, string])[] = [
  [/^Step type .* is not supported yet$/, "Use a step of the type ShellScript with the commands that do the same."],
  [/^Stage type .* is not supported yet$/, "Use a stage of the type Custom."],
  [/^Shell .* is not supported yet$/, "Use shell: Bash."],
  [/is not supported yet$/, "Remove it: docs/pipelines.md says what runs."],
  [/^Unknown field /, "Remove it, or correct its name."],
  [/^A secret cannot be a part/, "Read the secret in a script or in the value of an environment variable."],
  [/^Expected a number: /, "Write a decimal number such as 3, or change the type to String."],
  [/^Bash does not accept line/, "Correct the script; bash -n on it says the same."],
  [/^This runtime input has no value$/, "Give it in the inputs of the run, or give it a default."],
];

const hintOf = ({ message }: Fault): string | undefined =>
  likely(message) ?? HINTS.find(([pattern]) => pattern.test(message))?.[1];

const UNKNOWN = /^Unknown .*'([^']*)'\. Allowed(?: here)?: (.*)$/;

/** The allowed word that a misspelt one was probably meant to be. */
function likely(message: string): string | undefined {
  const [, word = "", allowed] = UNKNOWN.exec(message) ?? [];
  const near = allowed === undefined ? undefined : nearest(word, allowed.split(", "));
  return near === undefined ? undefined : `Did you mean '${near}'?`;
}
