import { z } from "zod";
import { HEADER_NAME, MAX_HEADERS, MAX_REQUEST_LINE, METHODS, OWN_HEADERS } from "../../../protocol/work/http.ts";
import {
  choice,
  delegateSelectors,
  namedList,
  oneOf,
  oneOfWords,
  type Phase,
  text,
  variableName,
} from "../schema/fields.ts";
import { isMarker } from "../schema/marker.ts";

/** What expressions come to is checked by the delegate. */
const url = (phase: Phase) =>
  text(phase)
    .max(MAX_REQUEST_LINE)
    .superRefine((value, context) => {
      const fault = value.includes("<+") && (phase === "saved" || !isMarker(value)) ? undefined : urlFault(value);
      if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
    });

function urlFault(value: string): string | undefined {
  const url = URL.parse(value.trim());
  if (url?.protocol !== "https:" && url?.protocol !== "http:") return "Expected an http or https URL";
  if (url.username === "" && url.password === "") return undefined;
  return "A URL has no user name and no password: use the header Authorization";
}

const headerName = z.string().superRefine((name, context) => {
  const fault = headerFault(name);
  if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
});

function headerFault(name: string): string | undefined {
  if (isMarker(name)) return "A runtime input is not allowed here";
  if (!HEADER_NAME.test(name)) {
    return "The name of a header has letters, digits and - . _ ! # $ % & ' * + ^ ` | ~, and at most 128 characters";
  }
  return OWN_HEADERS.has(name.toLowerCase()) ? `The header '${name}' is set by the delegate` : undefined;
}

const headers = (phase: Phase) =>
  z
    .array(
      z.strictObject({
        key: headerName.describe("Its name, without expressions"),
        value: text(phase).describe("May hold expressions and secrets"),
      }),
    )
    .max(MAX_HEADERS)
    .superRefine((list, context) => {
      const seen = new Set<string>();
      for (const [index, { key }] of list.entries()) {
        const message = `The header '${key}' is given twice`;
        if (seen.has(key.toLowerCase())) context.addIssue({ code: "custom", path: [index, "key"], message });
        seen.add(key.toLowerCase());
      }
    });

const anyValue = (phase: Phase) => z.union([text(phase), z.number(), z.boolean(), z.null()]);

const inputVariable = (phase: Phase) =>
  z.strictObject({
    name: variableName.describe("For `<+spec.inputVariables.NAME>`"),
    type: choice("Input variable type", ["String"], oneOf("Number Secret")).describe("Type of the value"),
    value: anyValue(phase).describe("May hold expressions, but no secrets"),
  });

const outputVariable = (phase: Phase) =>
  z.strictObject({
    name: variableName.describe("For expressions"),
    type: choice("Output variable type", ["String"], oneOf("Number Secret")).describe("Type of the value"),
    value: text(phase).describe('As in `<+json.select("state", httpResponseBody)>`'),
  });

export const http = (phase: Phase) =>
  z.strictObject({
    url: url(phase).describe("An http or https URL; may hold expressions and secrets"),
    method: oneOfWords(phase, METHODS).describe("The method"),
    headers: headers(phase).nullish().describe("Headers of the request"),
    requestBody: text(phase).nullish().describe("The body; may hold expressions and secrets"),
    assertion: text(phase)
      .nullish()
      .describe("Fails the step unless it is true, as in `<+httpResponseCode> == 200`; without it any response passes"),
    inputVariables: namedList(inputVariable(phase)).nullish().describe("For the texts of the step"),
    outputVariables: namedList(outputVariable(phase)).nullish().describe("Made of the response"),
    delegateSelectors: delegateSelectors(phase).describe("Tags of the delegates that may run the step"),
  });

export type HttpSpec = z.output<ReturnType<typeof http>>;
