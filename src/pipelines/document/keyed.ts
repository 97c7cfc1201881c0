/** What tells an item of a list from the others: the identifier of a stage, step or step group, the name of a variable. */
export type Key = { readonly field: "identifier" | "name"; readonly name: string };

/** Empty for an item that only its place tells from the others. A parallel list has the keys of all its items. */
export function keysOf(item: unknown): readonly Key[] {
  const map = asMap(item);
  const parallel = map?.["parallel"];
  if (Array.isArray(parallel)) return parallel.flatMap(keysOf);
  const inner = asMap(map?.["stage"]) ?? asMap(map?.["step"]) ?? asMap(map?.["stepGroup"]);
  const identifier = inner?.["identifier"];
  if (typeof identifier === "string") return [{ field: "identifier", name: identifier }];
  const name = map?.["name"];
  return inner === undefined && typeof name === "string" ? [{ field: "name", name }] : [];
}

function asMap(value: unknown): { readonly [key: string]: unknown } | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return value as { readonly [key: string]: unknown };
}
