/** A valid request for every operation of api/openapi.json, for tests to change. */
import {
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isRequiredInputField,
  type GraphQLField,
  type GraphQLInputType,
} from "graphql";
import { fromWire } from "../../../src/core/ids.ts";
import { operationsOf, readDocument, type Operation } from "../../contract/operations.ts";
import { createWorld, type World } from "../../contract/world.ts";
import { createSession, type SessionHeaders } from "../../support/sessions.ts";
import { eventually, made } from "../../support/contract.ts";
import type { Answer, SendOptions, TestPlatform } from "../../support/platform.ts";

export type Sample = {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** The example of the body, or undefined if the operation has none. */
  readonly body: unknown;
  readonly type: string | undefined;
};

/** Creates the resources of the examples, a secret and a user group. Resolves once the background work has ended. */
export async function createExamples(platform: TestPlatform): Promise<World> {
  const world = await createWorld(platform);
  sessions.set(platform.accountId, (await createSession(platform)).headers);
  const needed = samples(world).filter(({ operation }) =>
    ["secret.create", "user-group.create"].includes(operation.operationId),
  );
  for (const one of needed) await made(sendSample(platform, one));
  await eventually(async () => {
    const waiting = await platform.db.query("select 1 from webhook_deliveries where processed_at is null");
    return waiting.length === 0 ? true : undefined;
  });
  let [last, same] = ["", 0];
  await eventually(async () => {
    const now = JSON.stringify(await digests(platform));
    same = now === last ? same + 1 : 0;
    last = now;
    return same === 3 ? true : undefined;
  });
  return world;
}

/** Returns requests with the examples of the document. `world` has the values that only a running server knows. */
export const samples = (world: World): readonly Sample[] =>
  operationsOf(readDocument()).map((operation) => {
    const types = Object.keys(operation.bodies);
    const type = types.find((one) => one === "application/json") ?? types[0];
    return {
      operation,
      params: valuesOf(operation, "path", world),
      query: valuesOf(operation, "query", world),
      body: type === undefined ? undefined : operation.bodies[type]?.example,
      type,
    };
  });

function valuesOf({ operationId, parameters }: Operation, place: "path" | "query", world: World) {
  const given = parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, example }) => [name, world[`${operationId} ${name}`] ?? example ?? world[name]] as const);
  return Object.fromEntries(given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
}

type Caller = Pick<TestPlatform, "send" | "accountId">;

/** Sessions of the accounts' administrators. Some operations need a session. */
const sessions = new Map<string, SessionHeaders>();

/** Sends the sample by key, or by session if the operation needs one. A text body is sent unchanged. */
export function sendSample(caller: Caller, sample: Sample, asking: SendOptions = {}): Promise<Answer> {
  const { operation, query, body, type } = sample;
  const params = { accountId: caller.accountId, ...sample.params };
  const path = Object.entries(params).reduce(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)),
    operation.path,
  );
  const asked = new URLSearchParams(query);
  const account = operation.parameters.find(
    (one) => one.in === "query" && /^account(?:I[dD]|Identifier)$/.test(one.name),
  );
  if (account && !asked.has(account.name)) asked.set(account.name, caller.accountId);
  const session = operation.session && asking.apiKey === undefined ? sessions.get(caller.accountId) : undefined;
  const own = session ? { apiKey: null, headers: { ...session, ...asking.headers } } : {};
  const how = { redirect: "manual", ...asking, ...own } as const;
  const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
  return caller.send(operation.method, `/gateway${path}?${asked.toString()}`, {
    ...sent,
    ...(type === undefined ? {} : { contentType: type }),
    ...how,
  });
}

/** Another account of the platform, with its own key. */
export async function createOtherAccount(platform: TestPlatform): Promise<TestPlatform> {
  const other = await platform.addAccount();
  const send: TestPlatform["send"] = (method, path, how) =>
    platform.send(method, path, { account: other.accountId, apiKey: other.apiKey, ...how });
  return {
    ...platform,
    ...other,
    send,
    graphql: (query, variables = null) =>
      send("POST", `/gateway/api/graphql?accountId=${other.accountId}`, {
        contentType: "application/json",
        body: JSON.stringify({ query, variables }),
      }),
  };
}

/** Returns a digest of each table's rows, of one account or of all. It excludes the tables that count requests. */
export async function digests(platform: TestPlatform, account?: string): Promise<Readonly<Record<string, string>>> {
  const tables = await platform.db.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id'
     where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and not c.relispartition
     and c.relname <> 'request_counts' order by 1`,
  );
  const id = account === undefined ? undefined : fromWire(account);
  const found: [string, string][] = [];
  for (const { name } of tables) {
    const [row] = await platform.db.query<{ digest: string }>(
      `select coalesce(md5(string_agg(t::text, '|' order by t::text)), '') || ' ' || count(*) as digest from "${name}" t${id ? " where account_id = $1" : ""}`,
      id ? [id] : [],
    );
    found.push([name, row?.digest ?? ""]);
  }
  return Object.fromEntries(found);
}

/** Returns the field with `text` in every text argument, required or not. */
export function callOf(field: GraphQLField<unknown, unknown>, text: string): string {
  const given = field.args.map(({ name, type }) => `${name}: ${literalOf(type, text)}`);
  return given.length === 0 ? field.name : `${field.name}(${given.join(", ")})`;
}

function literalOf(type: GraphQLInputType, text: string): string {
  const named = getNullableType(type);
  if (isListType(named)) return "[]";
  if (isEnumType(named)) return named.getValues()[0]?.name ?? "";
  if (isInputObjectType(named)) {
    const fields = Object.values(named.getFields()).filter(
      (field) => isRequiredInputField(field) || getNullableType(field.type).toString() === "String",
    );
    return `{ ${fields.map((field) => `${field.name}: ${literalOf(field.type, text)}`).join(", ")} }`;
  }
  if (named.toString() === "Boolean") return "false";
  return ["Int", "Long"].includes(named.toString()) ? "1" : JSON.stringify(text);
}

/** Yields the body's text once for each object in it, with one more member in that object. */
export function* withMember(body: unknown, member: string): Generator<string> {
  if (typeof body !== "object" || body === null) return;
  const inside = JSON.stringify(body).slice(1, -1);
  if (!Array.isArray(body)) yield `{${member}${inside === "" ? "" : ","}${inside}}`;
  for (const [key, value] of Object.entries(body))
    for (const other of withMember(value, member)) {
      const marked = Array.isArray(body) ? body.with(Number(key), "\u0001") : { ...body, [key]: "\u0001" };
      yield JSON.stringify(marked).replace('"\\u0001"', () => other);
    }
}
