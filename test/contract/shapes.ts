/** Compares a response with api/openapi.json. */
import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { Answer } from "../support/platform.ts";
import type { ApiDocument, Operation } from "./operations.ts";

export type CheckAnswer = (operation: Operation, answer: Answer) => void;

/** Fails unless the status is one of the operation's and the body fits the schema of that status and media type. */
export function answerChecker(document: ApiDocument): CheckAnswer {
  // The document is also for readers: it may use patterns and keywords beyond the drafts (const with type).
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(document, "api");
  const compiled = new Map<object, ValidateFunction>();
  const compile = (schema: object): ValidateFunction => {
    const known =
      compiled.get(schema) ?? ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')) as object);
    compiled.set(schema, known);
    return known;
  };
  return (operation, { status, headers, body, text }) => {
    const where = `${operation.operationId}: ${status} ${text.slice(0, 2_000)}`;
    const named = operation.responses[String(status)];
    assert.ok(named, `undocumented status: ${where}`);
    const response = named.$ref ? document.components.responses[named.$ref.split("/").at(-1) ?? ""] : named;
    if (response && !response.content) {
      assert.equal(text, "", `undocumented body: ${where}`);
      return;
    }
    const type = (headers.get("content-type") ?? "").split(";")[0] ?? "";
    const media = response?.content?.[type];
    assert.ok(media, `undocumented media type ${type}: ${where}`);
    if (!/^application\/(?:\w+\+)?json$/.test(type)) return;
    const fits = compile(media.schema);
    if (!fits(body)) assert.fail(`${ajv.errorsText(fits.errors)} in ${where}`);
  };
}
