/** What tells an item of a list from the others: the identifier of a stage or step, the name of a variable. */
export type Key = { readonly field: "identifier" | "name"; readonly name: string };

export function keyOf(item: unknown): Key | undefined {
  const map = asMap(item);
  const inner = asMap(map?.["stage"]) ?? asMap(map?.["step"]);
  const identifier = inner?.["identifier"];
  if (typeof identifier === "string") return { field: "identifier", name: identifier };
  const name = map?.["name"];
  return inner === undefined && typeof name === "string" ? { field: "name", name } : undefined;
}

function asMap(value: unknown): { readonly [key: string]: unknown } | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return value as { readonly [key: string]: unknown };
}
