import assert from "node:assert/strict";
import { test } from "node:test";
import { languageSections } from "../../../src/pipelines/index.ts";

test("each field of the pipeline language has a description", () => {
  const fields = languageSections().flatMap(({ title, fields }) => fields.map((field) => ({ title, ...field })));
  assert.ok(fields.length > 100, String(fields.length));
  assert.deepEqual(
    fields.filter(({ description }) => description === "").map(({ title, name }) => `${title}: ${name}`),
    [],
    "Add .describe(…) to the schema of the field",
  );
});
