/** The operations of api/openapi.json as the tests read them: what the document says, nothing of the code. */
import { readFileSync } from "node:fs";

export type Parameter = {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly schema: { readonly type?: string; readonly enum?: readonly string[] };
  readonly example?: string;
};
type Media = { readonly schema: object; readonly example?: unknown };
export type Answered = {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, Media>>;
};

export type Operation = {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly public: boolean;
  /** For people who are signed in: no key opens it. */
  readonly session: boolean;
  /** Those of the address. */
  readonly parameters: readonly Parameter[];
  /** The names of headers that it takes beside the credential. */
  readonly headers: readonly string[];
  readonly bodies: Readonly<Record<string, Media>>;
  readonly responses: Readonly<Record<string, Answered>>;
};

type Written = Omit<Operation, "method" | "path" | "bodies" | "public" | "session" | "headers" | "parameters"> & {
  readonly parameters: readonly (Parameter | (Omit<Parameter, "in"> & { readonly in: "header" }))[];
  readonly security?: readonly unknown[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
};

export type ApiDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Written>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Answered>> };
};

export const readDocument = (): ApiDocument =>
  JSON.parse(readFileSync(new URL("../../api/openapi.json", import.meta.url), "utf8")) as ApiDocument;

export const operationsOf = (document: ApiDocument): readonly Operation[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security, requestBody, parameters, ...operation }]) => ({
      ...operation,
      parameters: parameters.filter((one) => one.in !== "header"),
      headers: parameters.filter((one) => one.in === "header").map(({ name }) => name),
      method: method.toUpperCase(),
      path,
      public: security?.length === 0,
      session: (security?.length ?? 0) > 0,
      bodies: requestBody?.content ?? {},
    })),
  );
