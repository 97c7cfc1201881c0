import { type Json, secretsIn } from "../../engine/index.ts";
import type { ValueField } from "../value-field.ts";
import type { HttpSpec } from "./schema.ts";

const INPUTS = ["spec"];
/** Names that only the answer gives a value. */
export const RESPONSE = ["httpResponseCode", "httpResponseBody", "httpResponseHeaders", "httpMethod", "httpUrl"];

/** What goes into the request, and what is made of the response. */
export function valueFields(spec: HttpSpec): readonly ValueField[] {
  const request = (path: ValueField["path"], value: string): ValueField => ({
    ...{ kind: "template", path, value, names: INPUTS, noFiles: "request" },
  });
  const fields: readonly ValueField[] = [
    request(["url"], spec.url),
    ...(spec.headers ?? []).map(({ value }, index) => request(["headers", index, "value"], value)),
    ...(spec.requestBody ? [request(["requestBody"], spec.requestBody)] : []),
    ...(spec.inputVariables ?? []).map(({ name, value }, index): ValueField => ({
      kind: "text",
      path: ["inputVariables", index, "value"],
      value,
      name,
    })),
  ];
  const names = [...INPUTS, ...RESPONSE];
  const outputs = (spec.outputVariables ?? []).map(({ name, value }, index): ValueField => ({
    ...{ kind: "text", path: ["outputVariables", index, "value"], value, name, names },
  }));
  const { assertion } = spec;
  return [
    ...fields,
    ...(assertion ? [{ kind: "condition" as const, path: ["assertion"], value: assertion, names }] : []),
    ...outputs,
  ];
}

/** The spec without its headers and without texts that ask for a secret. */
export function shown({ headers: _, ...spec }: HttpSpec): { readonly [key: string]: Json } {
  const { url, requestBody, ...rest } = spec;
  const texts = Object.entries({ url, requestBody }).filter(([, text]) => text && secretsIn(text).length === 0);
  const inputVariables = Object.fromEntries((spec.inputVariables ?? []).map(({ name, value }) => [name, value ?? ""]));
  // Fields that are undefined are left out.
  return JSON.parse(JSON.stringify({ ...rest, ...Object.fromEntries(texts), inputVariables })) as {
    readonly [key: string]: Json;
  };
}
