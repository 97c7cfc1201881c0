/**
 * Checks rules of common OpenAPI tools that api/openapi.json broke before. CONTRIBUTING.md describes how to run the
 * tools. That the document has every route is checked by `npm run check`, which generates it again. contract.test.ts
 * checks that docs/contract.md lists each of its operations.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { root } from "../../../scripts/lib/files.ts";

type Json = { readonly [key: string]: unknown };
type Operation = Json & { readonly tags: readonly string[]; readonly responses: Json };
type Document = Json & {
  readonly info: Json;
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Json>>;
};

const document = JSON.parse(readFileSync(path.join(root, "api/openapi.json"), "utf8")) as Document;
const operations = Object.entries(document.paths).flatMap(([at, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ at: `${method} ${at}`, operation })),
);

const isMap = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** Yields every object of the document with its path, except examples, which have any form. */
function* objects(value: unknown, at = "#"): Generator<{ readonly at: string; readonly found: Json }> {
  if (Array.isArray(value)) for (const [nth, item] of value.entries()) yield* objects(item, `${at}/${nth}`);
  if (!isMap(value)) return;
  yield { at, found: value };
  for (const [key, part] of Object.entries(value))
    if (key !== "example") yield* objects(part, `${at}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
}

const everything = [...objects(document)];

/** Fails with all paths at once. */
const none = (places: readonly string[]): void => assert.deepEqual(places, []);

test("each array declares its items, and each choice has several branches", () => {
  const isSchema = (at: string): boolean => !at.endsWith("/properties");
  none(
    everything
      .filter(({ at, found }) => isSchema(at) && found["type"] === "array" && !isMap(found["items"]))
      .map(({ at }) => at),
  );
  none(
    everything
      .filter(({ found }) => ["anyOf", "oneOf"].some((key) => Array.isArray(found[key]) && found[key].length < 2))
      .map(({ at }) => at),
  );
});

test("each operation has a summary, a longer description, a unique name and a success response", () => {
  const names = operations.map(({ operation }) => operation["operationId"]);
  assert.equal(new Set(names).size, operations.length);
  for (const { at, operation } of operations) {
    const { summary, description, responses } = operation;
    assert.equal(typeof summary, "string", at);
    assert.ok(typeof description === "string" && description.length > 60 && description !== summary, at);
    assert.ok(
      Object.keys(responses).some((status) => /^2\d\d$/.test(status) || status === "default"),
      at,
    );
  }
});

test("the tags are those of the operations, in order, and each has a description", () => {
  const used = [...new Set(operations.flatMap(({ operation }) => operation.tags))].toSorted();
  assert.deepEqual(
    document.tags.map(({ name }) => name),
    used,
  );
  none(document.tags.filter(({ description = "" }) => description.length < 10).map(({ name }) => name));
  assert.ok(isMap(document.info["contact"]) && isMap(document.info["license"]));
});

test("each reference resolves, and each component is referenced", () => {
  const references = new Set(
    everything.map(({ found }) => found["$ref"]).filter((one): one is string => typeof one === "string"),
  );
  const components = Object.entries(document.components)
    .filter(([kind]) => kind !== "securitySchemes")
    .flatMap(([kind, named]) => Object.keys(named).map((name) => `#/components/${kind}/${name}`));
  assert.deepEqual([...references].toSorted(), components.toSorted());
});
