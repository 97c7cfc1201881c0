/** The part of OpenAPI 3.1 that the reference shows. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
};
export type Parameter = {
  readonly name: string;
  readonly in: "query" | "path" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
};
type Content = Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>;
type Described = {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly "x-permission"?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description?: string; readonly content?: Content }>>;
};
type ApiDocument = { readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>> };

/** An operation of the API as the reference lists it. */
export type ApiOperation = Described & {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
};

/** The parameter that names the account: the page fills it in. */
export const ACCOUNT_PARAMETERS: ReadonlySet<string> = new Set([
  "accountIdentifier",
  "accountId",
  "accountID",
  "routingId",
]);

/** All operations, by tag and then by path. */
export function operationsOf(document: ApiDocument): readonly ApiOperation[] {
  return Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, described]) =>
        described.operationId === undefined
          ? []
          : [
              {
                ...described,
                id: described.operationId,
                method: method.toUpperCase(),
                path,
                tag: described.tags?.[0] ?? "",
              },
            ],
      ),
    )
    .toSorted((a, b) => a.tag.localeCompare(b.tag) || a.path.localeCompare(b.path));
}

/** Those whose id, path, summary or tag contain all the words. */
export function matchingOperations(operations: readonly ApiOperation[], text: string): readonly ApiOperation[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return operations.filter(({ id, path, summary = "", tag, method }) => {
    const searched = `${id} ${method} ${path} ${summary} ${tag}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
}

/** The body to begin with: the example of the description, or nothing. */
export function exampleBody({
  requestBody,
}: ApiOperation): { readonly type: string; readonly text: string } | undefined {
  if (requestBody === undefined) return undefined;
  const types = Object.keys(requestBody.content);
  const type = types.includes("application/json") ? "application/json" : (types[0] ?? "application/json");
  const example = requestBody.content[type]?.example;
  if (type.startsWith("multipart/")) return { type, text: "" };
  return {
    type,
    text: typeof example === "string" ? example : example === undefined ? "" : JSON.stringify(example, undefined, 2),
  };
}
