/**
 * The environment variables of the programs, and suggestions for unknown names. An unknown name never prevents a start,
 * because a later release may read it.
 */

type Env = Readonly<Record<string, string | undefined>>;
type Program = "server" | "delegate";

const ROOT_KEYS = ["RAILHEAD_ROOT_KEY", "RAILHEAD_ROOT_KEY_PREVIOUS"];

/**
 * By the program that reads them. A convention test compares this with the sources and with docs/operations/running.md.
 */
export const VARIABLES: Readonly<Record<Program, readonly string[]>> = {
  server: [
    "HOST",
    "PORT",
    "DATABASE_URL",
    "RAILHEAD_PUBLIC_URL",
    "RAILHEAD_DATA_DIR",
    ...ROOT_KEYS.flatMap((name) => [name, `${name}_FILE`, `${name}_COMMAND`]),
    "RAILHEAD_LOCAL_DELEGATE",
    "RAILHEAD_WEB_UI",
    "RAILHEAD_DELEGATE_DIR",
    "RAILHEAD_STEP_PATH",
    "RAILHEAD_KNOWN_HOSTS",
    "RAILHEAD_MAX_SECRET_FILE",
    "RAILHEAD_OIDC_ISSUER",
    "RAILHEAD_OIDC_CLIENT_ID",
    "RAILHEAD_OIDC_CLIENT_SECRET",
    "RAILHEAD_OIDC_CLIENT_SECRET_FILE",
    "RAILHEAD_OIDC_SCOPES",
    "RAILHEAD_OIDC_NAME",
    "RAILHEAD_OIDC_LINK_BY_EMAIL",
    "RAILHEAD_SESSION_IDLE_MINUTES",
    "RAILHEAD_SESSION_HOURS",
    "RAILHEAD_SECRET_COMMANDS",
    "RAILHEAD_ALLOW_PRIVATE_ADDRESSES",
    "RAILHEAD_TRUSTED_PROXIES",
    "RAILHEAD_DATABASE_CONNECTIONS",
    "RAILHEAD_LOG_LEVEL",
  ],
  delegate: ["RAILHEAD_DELEGATE_TOKEN"],
};

const PREFIX = "RAILHEAD_";
/** Steps find these in their environment; a program that a step starts inherits them. */
const OF_STEPS = /^RAILHEAD_(TASK$|EXPR_)/;

export type UnknownVariable = { readonly variable: string; readonly message: string };

/**
 * Variables that begin with RAILHEAD_ and that the program does not read, in order of name. Values are never looked at.
 */
export function unknownVariables(env: Env, program: Program): readonly UnknownVariable[] {
  const other: Program = program === "server" ? "delegate" : "server";
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !OF_STEPS.test(name) && !VARIABLES[program].includes(name))
    .toSorted()
    .map((variable) => ({ variable, message: messageFor(variable, program, other) }));
}

function messageFor(variable: string, program: Program, other: Program): string {
  if (VARIABLES[other].includes(variable))
    return `${variable} has no effect on the ${program}: only the ${other} reads it`;
  const near = nearest(variable, VARIABLES[program]);
  return `${variable} has no effect: the ${program} has no such variable${near === undefined ? "" : `; did you mean ${near}?`}`;
}

/** The name with the fewest edits away; undefined when all are too different to be meant. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: { readonly candidate: string; readonly edits: number } | undefined;
  for (const candidate of known) {
    const edits = Math.min(editsBetween(name, candidate), editsBetween(withoutPrefix(name), withoutPrefix(candidate)));
    if (!best || edits < best.edits) best = { candidate, edits };
  }
  const most = Math.max(1, Math.floor(withoutPrefix(name).length / 3));
  return best && best.edits <= most ? best.candidate : undefined;
}

const withoutPrefix = (name: string): string => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name);

/** Levenshtein distance: insertions, deletions and replacements of one character. */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (const [i, letter] of one.split("").entries()) {
    const next = [i + 1];
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (letter === other[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
