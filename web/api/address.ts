import type { AnyOperation } from "./operation.ts";

type Values = Readonly<Record<string, string | number | boolean | readonly (string | number)[] | undefined>>;

/** The address of a request to this server: path, parameters and account. Values that are undefined are left out. */
export function addressOf(
  operation: Pick<AnyOperation, "path" | "account">,
  { path = {}, query = {}, accountId }: { readonly path?: Values; readonly query?: Values; readonly accountId: string },
): string {
  const url = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(path[name] ?? (name === "accountId" ? accountId : ""))),
  );
  const search = new URLSearchParams();
  if (operation.account !== null) search.set(operation.account, accountId);
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const text = search.toString();
  return text === "" ? url : `${url}?${text}`;
}
