/** Loads a folder of `examples/` into a platform, over its public interface. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

/** As in the file `bootstrap.json` of a server. */
export type ExampleFacts = { readonly baseUrl: string; readonly accountId: string; readonly apiKey: string };

export type Loaded = {
  readonly file: string;
  readonly identifier: string;
  readonly result: "created" | "updated" | "exists";
};

type Document = Readonly<Record<string, { readonly identifier: string; readonly pipelineIdentifier?: string }>>;

const EXAMPLES = fileURLToPath(new URL("../../examples/", import.meta.url));
/** The folder with the project, the connector, the service and the environment that all examples use. */
const SHARED = "quickstart";
const SCOPE = "orgIdentifier=default&projectIdentifier=quickstart";

/** Files in the order in which they are sent: each may name those before it. */
const KINDS = {
  project: { path: "/ng/api/projects?orgIdentifier=default", type: "application/yaml" },
  connector: { path: "/ng/api/connectors", type: "text/yaml" },
  service: { path: "/ng/api/servicesV2", type: "application/yaml" },
  environment: { path: "/ng/api/environmentsV2", type: "application/yaml" },
  userGroup: { path: `/ng/api/user-groups?${SCOPE}`, type: "application/yaml" },
  pipeline: { path: `/pipeline/api/pipelines?${SCOPE}`, type: "application/yaml" },
  trigger: { path: `/pipeline/api/triggers?${SCOPE}`, type: "application/yaml" },
} as const;
type Kind = keyof typeof KINDS;

/** The names of all examples. */
export async function listExamples(): Promise<readonly string[]> {
  const entries = await readdir(EXAMPLES, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).toSorted();
}

/**
 * Creates what the example needs and is not there, and creates or replaces its pipeline. Throws if there is no such
 * example, and for a refused document.
 */
export async function loadExample(facts: ExampleFacts, name: string): Promise<readonly Loaded[]> {
  const names = await listExamples();
  if (!names.includes(name)) throw new Error(`There is no example '${name}'. Examples: ${names.join(", ")}.`);
  const shared =
    name === SHARED ? [] : (await filesOf(SHARED)).filter(({ kind }) => !["pipeline", "trigger"].includes(kind));
  const loaded: Loaded[] = [];
  for (const file of [...shared, ...(await filesOf(name))]) loaded.push(await send(facts, file));
  return loaded;
}

type ExampleFile = { readonly file: string; readonly kind: Kind; readonly text: string };

async function filesOf(folder: string): Promise<readonly ExampleFile[]> {
  const names = (await readdir(join(EXAMPLES, folder))).filter((file) => file.endsWith(".yaml")).toSorted();
  const files = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(EXAMPLES, folder, name), "utf8");
      const kind = Object.keys(parse(text) as Document)[0] as Kind;
      if (!Object.hasOwn(KINDS, kind)) throw new Error(`examples/${folder}/${name} begins with '${kind}'.`);
      return { file: `${folder}/${name}`, kind, text };
    }),
  );
  const order = Object.keys(KINDS);
  return files.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

async function send(facts: ExampleFacts, { file, kind, text }: ExampleFile): Promise<Loaded> {
  const content = (parse(text) as Document)[kind] as Document[string];
  const { identifier } = content;
  const { type, path } = KINDS[kind];
  const target = kind === "trigger" ? `${path}&targetIdentifier=${content.pipelineIdentifier}` : path;
  // The API takes a user group without the word around it. Its first member is who loads the example.
  const body = kind === "userGroup" ? JSON.stringify({ ...content, users: [await ownId(facts)] }) : text;
  const made = await request(facts, { method: "POST", path: target, type, body });
  if (made.ok) return { file, identifier, result: "created" };
  if (!/already exists/.test(made.message)) throw new Error(`examples/${file}: ${made.message}`);
  if (kind !== "pipeline") return { file, identifier, result: "exists" };
  const replaced = await request(facts, { method: "PUT", path: pathOf(identifier), type, body });
  if (!replaced.ok) throw new Error(`examples/${file}: ${replaced.message}`);
  return { file, identifier, result: "updated" };
}

const pathOf = (pipeline: string): string => `/pipeline/api/pipelines/${pipeline}?${SCOPE}`;

async function ownId(facts: ExampleFacts): Promise<string> {
  const { body, message, ok } = await request(facts, { method: "GET", path: "/ng/api/user/currentUser" });
  const { data } = body as { readonly data?: { readonly uuid?: string } };
  if (!ok || data?.uuid === undefined) throw new Error(`The API key is of no user: ${message}`);
  return data.uuid;
}

type Sent = { readonly method: string; readonly path: string; readonly type?: string; readonly body?: string };

async function request({ baseUrl, accountId, apiKey }: ExampleFacts, { method, path, type, body }: Sent) {
  const url = `${baseUrl}/gateway${path}${path.includes("?") ? "&" : "?"}accountIdentifier=${accountId}`;
  const headers = { "x-api-key": apiKey, ...(type === undefined ? {} : { "content-type": type }) };
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
  const answer = (await response.json()) as { readonly message?: string };
  return { ok: response.ok, message: answer.message ?? `${response.status}`, body: answer as unknown };
}
