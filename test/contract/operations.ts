/** The operations of api/openapi.json, read from the document without the code. */
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
  readonly description?: string;
  readonly public: boolean;
  /** Whether it needs a session: no key is accepted. */
  readonly session: boolean;
  /** Parameters of path and query. */
  readonly parameters: readonly Parameter[];
  /** Names of headers besides the credential. */
  readonly headers: readonly string[];
  readonly bodies: Readonly<Record<string, Media>>;
  readonly responses: Readonly<Record<string, Answered>>;
  /** The status of success. */
  readonly success: number;
};

/** Whether it answers with events until the client or the server ends the stream. */
export const isStream = ({ responses }: Operation): boolean =>
  responses["200"]?.content?.["text/event-stream"] !== undefined;

type Written = Omit<
  Operation,
  "method" | "path" | "bodies" | "public" | "session" | "headers" | "parameters" | "success"
> & {
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
      parameters: whole(document, parameters).filter((one) => one.in !== "header"),
      headers: parameters.filter((one) => one.in === "header").map(({ name }) => name),
      method: method.toUpperCase(),
      path,
      public: security?.length === 0,
      session: (security?.length ?? 0) > 0,
      bodies: whole(document, requestBody?.content ?? {}),
      success: Number(Object.keys(operation.responses).find((status) => /^[23]/.test(status) && status !== "304")),
    })),
  );

/** Returns the value with all references resolved. */
function whole<T>(document: ApiDocument, value: T): T {
  if (typeof value !== "object" || value === null) return value;
  const { $ref } = value as { readonly $ref?: unknown };
  if (typeof $ref === "string") return whole(document, named(document, $ref) as T);
  if (Array.isArray(value)) return value.map((item: unknown) => whole(document, item)) as T;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]: [string, unknown]) => [
      key,
      key === "example" ? part : whole(document, part),
    ]),
  ) as T;
}

const named = (document: ApiDocument, $ref: string): unknown =>
  $ref
    .split("/")
    .slice(1)
    .reduce((at, key) => (at as Readonly<Record<string, unknown>>)[key], document as unknown);
