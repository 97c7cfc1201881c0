/**
 * Who may import whom, as data. test/conventions/imports.test.ts holds the tree to it,
 * docs/map.md prints it, so neither can say something else than the other.
 */

/** A slice sees `core`, `platform` and every slice above it in this list, through their doors. */
export const slices = [
  ["audit", "who did what, appended in the caller's transaction"],
  ["events", "the outbox: what happened, for streams, webhooks and metrics"],
  ["access", "roles, resource groups, assignments, user groups: may X do Y in Z"],
  ["identity", "people and service accounts, keys and tokens: who it is"],
  ["projects", "account, organization, project"],
  ["settings", "typed settings, inherited down the scopes"],
  ["limits", "how many requests an account and a token may make"],
  ["login", "passwords, sessions, single sign-on: how people get in"],
  ["secrets", "names, sealed values, secret managers, who may resolve them"],
  ["connectors", "how to reach registries, clusters and git"],
  ["environments", "environments and services"],
  ["delegates", "registration, tags, sessions, the task queue: tasks, never pipelines"],
  ["pipelines", "definitions: YAML, validation, versions, input sets"],
  ["executions", "runs: plan, advance, logs, approvals, history"],
  ["triggers", "webhooks and schedules that start executions"],
  ["tags", "tags of applications, environments, pipelines and services, changed one by one"],
] as const;

export type SliceName = (typeof slices)[number][0] | "scim";
export type LayerName =
  | "core"
  | "engine"
  | "protocol"
  | "platform"
  | "outgoing"
  | "variables"
  | "connector types"
  | "schema"
  | "app"
  | "main"
  | "commands"
  | "delegate"
  | "guard"
  | "launcher"
  | "cli"
  | "web"
  | "api"
  | "test"
  | "scripts"
  | "bench"
  | SliceName;

export type Layer = {
  readonly name: LayerName;
  /** A folder (ends with `/`) or one file; where two layers fit, the longer path counts. */
  readonly at: string;
  readonly what: string;
  /** Layers of ours it may import besides itself. */
  readonly may: readonly LayerName[] | "all";
  /** Modules from outside, `node:…` included. Tests are free in this. */
  readonly outside: readonly string[] | "all";
  /** Completes the sentence "X may not import Y, because …". */
  readonly because: string;
};

const base: readonly Layer[] = [
  {
    name: "core",
    at: "src/core/",
    what: "words that all slices share; no I/O",
    may: [],
    outside: ["zod"],
    because: "core is what everything stands on: it imports nothing of ours and does no I/O",
  },
  {
    name: "engine",
    at: "src/engine/",
    what: "the pipeline machine: (state, event) → (state, effects)",
    may: [],
    outside: [],
    because: "the engine is pure: it imports nothing at all, so a recorded history always replays the same",
  },
  {
    name: "protocol",
    at: "protocol/",
    what: "what server and delegate say to each other",
    may: [],
    outside: ["zod"],
    because: "protocol is shared by two programs and belongs to neither",
  },
  {
    name: "platform",
    at: "src/platform/",
    what: "machinery without domain: database, HTTP, GraphQL, configuration, logs",
    may: ["core", "outgoing", "variables"],
    outside: "all",
    because: "platform is machinery: it knows core, and no domain",
  },
  {
    name: "outgoing",
    at: "src/platform/outgoing/",
    what: "requests to addresses that users chose, bounded and judged",
    may: [],
    outside: ["node:dns", "node:http", "node:https", "node:net"],
    because: "delegates use it too, which share nothing else with the server's machinery",
  },
  {
    name: "variables",
    at: "src/platform/variables/",
    what: "names of the environment variables that server and delegate read",
    may: [],
    outside: [],
    because: "delegates use it too, which share nothing else with the server's configuration",
  },
  {
    name: "connector types",
    at: "src/connectors/types/",
    what: "one file for each type of connector: its spec and the test of its connection",
    may: ["outgoing"],
    outside: ["zod"],
    because: "the test of a connection runs on delegates too, which share nothing else with the server",
  },
];

const sliceLayers: readonly Layer[] = slices.map(([name, what], i) => ({
  name,
  at: `src/${name}/`,
  what,
  may: ["core", "platform", ...extra(name), ...slices.slice(0, i).map(([lower]) => lower)],
  outside: "all",
  because: `${name} sees core, platform and the slices below it; a call that must go up is a port that app.ts passes`,
}));

function extra(slice: SliceName): readonly LayerName[] {
  if (slice === "pipelines" || slice === "executions") return ["engine"];
  if (slice === "connectors") return ["outgoing", "connector types"];
  if (slice === "login") return ["outgoing"];
  return slice === "delegates" ? ["protocol"] : [];
}

const programs: readonly Layer[] = [
  {
    name: "scim",
    at: "src/scim/",
    what: "the SCIM wire over people and groups, and who may speak it",
    may: ["core", "platform", "outgoing", "access", "identity", "settings"],
    outside: "all",
    because: "scim is a wire over access, identity and settings, nothing else",
  },
  {
    name: "schema",
    at: "src/schema.ts",
    what: "the GraphQL schema: each slice adds its types, low to high",
    may: ["core", "platform", ...slices.map(([name]) => name)],
    outside: "all",
    because: "schema.ts puts together what the slices' doors offer",
  },
  {
    name: "app",
    at: "src/app.ts",
    what: "builds each slice once, low to high",
    may: ["schema", "core", "platform", "outgoing", "scim", ...slices.map(([name]) => name)],
    outside: "all",
    because: "app.ts wires slices; the engine and the protocol are their slices' business",
  },
  {
    name: "main",
    at: "src/main.ts",
    what: "reads the configuration, listens, drains",
    may: ["app", "core", "platform", "variables"],
    outside: "all",
    because: "main.ts starts and stops what app.ts has built",
  },
  {
    name: "commands",
    at: "src/commands/",
    what: "the operator's commands on the server's machine, over its database",
    may: ["core", "platform", ...slices.map(([name]) => name)],
    outside: "all",
    because: "a command stands on the slices; what serves requests is none of its business",
  },
  {
    name: "delegate",
    at: "delegate/",
    what: "the program that runs steps near the targets",
    may: ["protocol", "outgoing", "variables", "connector types"],
    outside: "all",
    because: "a delegate shares nothing with the server but the protocol and the tests of connections",
  },
  {
    name: "launcher",
    at: "cli/railhead.js",
    what: "the program `railhead`",
    may: ["guard", "cli", "main", "commands", "delegate"],
    outside: "all",
    because: "the launcher only starts programs",
  },
  {
    name: "cli",
    at: "cli/",
    what: "the command line over the public interface",
    may: ["api"],
    outside: "all",
    because: "the command line knows only what api/ generates; programs are started by cli/railhead.js",
  },
  {
    name: "web",
    at: "web/",
    what: "the web interface",
    may: ["api"],
    outside: "all",
    because: "the web interface knows only what api/ generates",
  },
  {
    name: "api",
    at: "api/",
    what: "the public interface, generated and reviewed as a diff",
    may: [],
    outside: "all",
    because: "api/ is generated from the code",
  },
  {
    name: "guard",
    at: "scripts/guard.js",
    what: "refuses a Node that is too old",
    may: [],
    outside: "all",
    because: "an old Node must be able to load it",
  },
  {
    name: "scripts",
    at: "scripts/",
    what: "what `npm run …` calls, one job each",
    may: "all",
    outside: "all",
    because: "scripts may import anything",
  },
  {
    name: "bench",
    at: "bench/",
    what: "measurements against floors of the same run",
    may: "all",
    outside: "all",
    because: "benchmarks may import anything",
  },
  {
    name: "test",
    at: "test/",
    what: "support for tests, scenarios over whole programs, conventions",
    may: "all",
    outside: "all",
    because: "tests may import anything",
  },
];

export const layers: readonly Layer[] = [...base, ...sliceLayers, ...programs];

/** Who may import `src/app.ts`, where everything is known: importing it means depending on everything. */
export const mayImportApp: readonly string[] = ["src/main.ts", "scripts/", "test/support/"];

/**
 * Who may open connections: the rest is handed a `Db`. The benchmark's bare server must not use our
 * own machinery; the test runner and test support make and drop whole databases.
 */
export const mayOpenConnections: readonly string[] = [
  "src/platform/db/",
  "bench/",
  "scripts/test.ts",
  "test/support/database.ts",
];

/** Who may write SQL, beside each slice's `store.ts` or `store/`. */
export const mayWriteSql: readonly string[] = ["src/platform/db/", "bench/", "test/", "scripts/"];

/**
 * The order inside a slice, low to high: a file imports its own level and below. The level is
 * told by the file name. Nouns cannot be told from verbs by name: between them and the store,
 * the ban on circles keeps the order.
 */
export const levels: readonly (readonly [level: string, names: RegExp])[] = [
  ["store, noun or verb", /^(?!(rest|graphql|socket|index)\.ts$)/],
  ["interface", /^(rest|graphql|socket)\.ts$/],
  ["door", /^index\.ts$/],
];

/** Files of a slice that no chain of imports may lead to the store; `noun` is its own, as in pipelines/pipeline.ts. */
export const pureNames: RegExp = /^(noun|wire|problems)\.ts$/;
/** The store of a slice. */
export const storeNames: RegExp = /^store(\.ts$|\/)/;

/** Lines of one file; tests and generated files are free. */
export const MAX_LINES = 320;
/** Lines of src/core together. */
export const MAX_CORE_LINES = 400;

/** An import that breaks a rule for a reason. An entry that is not needed any more fails the test. */
export const exceptions: readonly { readonly from: string; readonly to: string; readonly because: string }[] = [
  {
    from: "bench/parts/no-credentials.ts",
    to: "src/identity/credentials.ts",
    because: "it replaces that module in the server without permission checks, and hands its first question on to it",
  },
];
