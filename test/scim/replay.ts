/** Requests of a directory as data, replayed against a platform. Each response must equal the given one. */
import assert from "node:assert/strict";
import type { Answer, TestPlatform } from "../support/platform.ts";

export type Step = {
  /** What the directory does with this request. */
  readonly does: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the base; `{ada}` is the id that `keep` stored under that name. */
  readonly path: string;
  readonly body?: unknown;
  readonly status: number;
  /** The whole response; `{base}` is the address of the resources. Undefined for an empty response. */
  readonly answer?: unknown;
  /** The name under which the id in the response is stored. */
  readonly keep?: string;
};

/** The time of a test whose clock does not advance. */
export const NOW = "2027-01-15T08:00:00.000Z";

export const meta = (type: "User" | "Group", name: string, version: number) => ({
  resourceType: type,
  created: NOW,
  lastModified: NOW,
  location: `{base}/${type}s/{${name}}`,
  version: `W/"${version}"`,
});

export const list = (...resources: readonly unknown[]) => ({
  schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
  totalResults: resources.length,
  startIndex: 1,
  itemsPerPage: resources.length,
  Resources: resources,
});

export type Caller = { readonly token: string; readonly base?: string; readonly contentType?: string };

export const scimPath = (on: TestPlatform): string => `/ng/api/scim/account/${on.accountId}`;

export function callScim(
  on: TestPlatform,
  { token, base = scimPath(on), contentType = "application/scim+json" }: Caller,
  method: string,
  path: string,
  { body, headers = {} }: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Answer> {
  return on.send(method, `${base}${path}`, {
    account: null,
    apiKey: null,
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(body === undefined ? {} : { contentType, body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
}

/** Returns the stored ids. */
export async function replay(
  on: TestPlatform,
  caller: Caller,
  steps: readonly Step[],
  kept: Record<string, string> = {},
): Promise<Readonly<Record<string, string>>> {
  kept["base"] = `${on.url}${(caller.base ?? scimPath(on)).replace(/^\/gateway/, "")}`;
  const filled = <T>(value: T): T =>
    JSON.parse(
      JSON.stringify(value).replace(/(?:\{|%7B)(\w+)(?:\}|%7D)/g, (whole, name: string) => kept[name] ?? whole),
    ) as T;
  for (const step of steps) {
    const { body } = step;
    const answer = await callScim(
      on,
      caller,
      step.method,
      filled(step.path),
      body === undefined ? {} : { body: filled(body) },
    );
    const where = `${step.does}: ${step.method} ${step.path}`;
    assert.equal(answer.status, step.status, `${where}: ${answer.text}`);
    if (answer.text !== "") assert.match(answer.headers.get("content-type") ?? "", /^application\/scim\+json/, where);
    if (step.keep !== undefined) kept[step.keep] = answer.body.id;
    if (step.answer === undefined) assert.equal(answer.text, "", where);
    else assert.deepEqual(answer.body, filled(step.answer), where);
  }
  return kept;
}
