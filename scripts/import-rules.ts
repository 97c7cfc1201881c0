/**
 * The layers and the imports that each may have. test/conventions/code/imports.test.ts checks the tree;
 * docs/architecture.md prints the table. scripts/lib/file-rules.ts has the rules for single files.
 */

/** A slice may import `core`, `platform` and the slices that stand before it in this list, through their `index.ts`. */
export const slices = [
  ["audit", "audit trail, appended in the caller's transaction"],
  ["access", "roles, resource groups, role assignments, user groups, permission checks"],
  ["identity", "users and service accounts, API keys and tokens, authentication"],
  ["projects", "account, organization, project"],
  ["settings", "typed settings, inherited from account to organization to project"],
  ["limits", "request limits for each account and token"],
  ["login", "passwords, sessions, single sign-on"],
  ["mail", "the account's mail server, and the queue of the mails that steps send"],
  ["secrets", "secrets, sealed values, secret managers, usage scopes"],
  ["connectors", "connectors to registries, clusters and Git, and their tests"],
  ["environments", "environments and services"],
  ["delegates", "registration, tags, sessions and the task queue of delegates; knows tasks, not pipelines"],
  ["pipelines", "pipeline definitions: YAML, validation, versions, input sets"],
  ["executions", "executions: start, advance, logs, history"],
  ["approvals", "steps that wait for approval: who may approve, and what was decided"],
  ["locks", "locks of steps and stages: who has which, and who waits for it"],
  ["triggers", "webhooks that start executions"],
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
  | "steps"
  | "connector types"
  | "schema"
  | "composition"
  | "app"
  | "main"
  | "commands"
  | "delegate"
  | "guard"
  | "launcher"
  | "cli"
  | "web"
  | "web build"
  | "api"
  | "test"
  | "scripts"
  | "bench"
  | SliceName;

export type Layer = {
  readonly name: LayerName;
  /** A folder (ends with `/`) or one file. The longest matching path decides. */
  readonly at: string;
  readonly what: string;
  /** Layers that it may import besides itself. */
  readonly may: readonly LayerName[] | "all";
  /** Modules from outside, `node:…` included. Tests may import any module. */
  readonly outside: readonly string[] | "all";
  /** Completes the sentence "X may not import Y, because …". */
  readonly because: string;
};

const base: readonly Layer[] = [
  {
    name: "core",
    at: "src/core/",
    what: "types that all slices share; no I/O",
    may: [],
    outside: ["zod"],
    because: "core imports nothing of ours and does no I/O, since everything depends on it",
  },
  {
    name: "engine",
    at: "src/engine/",
    what: "pure state machine of executions: (state, event) → (state, effects)",
    may: [],
    // A hash gives the same answer each time.
    outside: ["node:crypto"],
    because: "the engine is pure: it imports nothing but a hash, so a recorded history always replays the same",
  },
  {
    name: "protocol",
    at: "protocol/",
    what: "messages between server and delegate",
    may: [],
    outside: ["zod"],
    because: "two programs share the protocol",
  },
  {
    name: "platform",
    at: "src/platform/",
    what: "infrastructure without domain: database, HTTP, GraphQL, configuration, logs",
    may: ["core", "outgoing", "variables"],
    outside: "all",
    because: "platform is infrastructure: it knows core and no domain",
  },
  {
    name: "steps",
    at: "src/steps/",
    what: "one folder for each step type: its schema, its plan and how it runs; and what their schemas share",
    may: ["core", "platform", "engine", "protocol"],
    outside: ["zod"],
    because: "a step type is described without pipelines, executions or the slice of delegates, and does no I/O",
  },
  {
    name: "outgoing",
    at: "src/platform/outgoing/",
    what: "requests to addresses that users choose: bounded, and checked against private networks",
    may: [],
    outside: ["node:dns", "node:http", "node:https", "node:net"],
    because: "delegates use it, too, and share no other infrastructure with the server",
  },
  {
    name: "variables",
    at: "src/platform/variables/",
    what: "names of the environment variables that server and delegate read",
    may: [],
    outside: [],
    because: "delegates use it, too, and share no other configuration with the server",
  },
  {
    name: "connector types",
    at: "src/connectors/types/",
    what: "one file for each connector type: its spec and its connection test",
    may: ["outgoing"],
    outside: ["zod", "node:crypto"],
    because: "connection tests run on delegates, too, which share nothing else with the server",
  },
];

const sliceLayers: readonly Layer[] = slices.map(([name, what], i) => ({
  name,
  at: `src/${name}/`,
  what,
  may: ["core", "platform", ...extra(name), ...slices.slice(0, i).map(([earlier]) => earlier)],
  outside: "all",
  because: `${name} may import core, platform and the slices before it in scripts/import-rules.ts; to call a later slice, declare a callback type, for which src/composition/ passes the function`,
}));

function extra(slice: SliceName): readonly LayerName[] {
  if (slice === "pipelines" || slice === "executions") return ["engine", "steps"];
  if (slice === "approvals") return ["steps"];
  if (slice === "connectors") return ["outgoing", "connector types"];
  if (slice === "login" || slice === "mail") return ["outgoing"];
  return slice === "delegates" ? ["protocol"] : [];
}

const programs: readonly Layer[] = [
  {
    name: "scim",
    at: "src/scim/",
    what: "SCIM interface to users and groups, and its authentication",
    may: ["core", "platform", "outgoing", "access", "identity", "settings"],
    outside: "all",
    because: "scim maps requests to access, identity and settings, and knows no other slice",
  },
  {
    name: "schema",
    at: "src/schema.ts",
    what: "the GraphQL schema: each slice adds its types, in the order of the slices",
    may: ["core", "platform", ...slices.map(([name]) => name)],
    outside: "all",
    because: "schema.ts combines what the slices export",
  },
  {
    name: "composition",
    at: "src/composition/",
    what: "builds each slice once, in the order of the slices",
    may: ["core", "platform", "outgoing", "scim", ...slices.map(([name]) => name)],
    outside: "all",
    because: "the composition connects slices; only their slices use the engine and the protocol",
  },
  {
    name: "app",
    at: "src/app.ts",
    what: "the server as a whole: slices, HTTP, background jobs",
    may: ["composition", "schema", "core", "platform", ...slices.map(([name]) => name)],
    outside: "all",
    because: "app.ts puts the HTTP server and the jobs around what the composition builds",
  },
  {
    name: "main",
    at: "src/main.ts",
    what: "reads the configuration, starts and stops the server",
    may: ["app", "core", "platform", "variables", "web build"],
    outside: "all",
    because: "main.ts starts and stops what app.ts builds",
  },
  {
    name: "commands",
    at: "src/commands/",
    what: "administration commands that work on the server's database",
    may: ["core", "platform", ...slices.map(([name]) => name)],
    outside: "all",
    because: "a command uses slices, not what serves requests",
  },
  {
    name: "delegate",
    at: "delegate/",
    what: "the program that runs steps near their targets",
    may: ["protocol", "outgoing", "variables", "connector types"],
    outside: "all",
    because: "a delegate shares only the protocol and connection tests with the server",
  },
  {
    name: "launcher",
    at: "cli/railhead.js",
    what: "the program `railhead`: starts the server, the delegate and the administration commands",
    may: ["guard", "cli", "main", "commands", "delegate"],
    outside: "all",
    because: "the launcher only starts programs",
  },
  {
    name: "cli",
    at: "cli/",
    what: "holds only `railhead.js`; other files would be clients of the public interface",
    may: ["api"],
    outside: "all",
    because: "the command line uses only what api/ describes; cli/railhead.js starts programs",
  },
  {
    name: "web",
    at: "web/",
    what: "the web interface, a client of the public API",
    may: ["api"],
    outside: "all",
    because: "the web interface uses only what api/ describes",
  },
  {
    name: "web build",
    at: "web/build/",
    what: "builds the web interface when its sources have changed",
    may: [],
    outside: "all",
    because: "the build knows only files",
  },
  {
    name: "api",
    at: "api/",
    what: "descriptions of the public interface: generated, committed, reviewed as diffs",
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
    what: "what `npm run …` starts, one job each",
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
