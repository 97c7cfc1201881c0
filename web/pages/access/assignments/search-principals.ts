import { fetchData } from "../../../api/client.ts";
import { serviceAccountAggregates, userGroupList, userList } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import type { ComboboxOption } from "../../../ui/combobox.tsx";
import { levelOf, scopesAround } from "../shared/levels.ts";
import type { PrincipalType } from "../shared/names.ts";
import { principalKey } from "./principal.ts";

const SIZE = 20;

/** Users, groups or service accounts to which a role can be assigned in the scope. Scopes that are not visible have none. */
export async function searchPrincipals(
  type: PrincipalType,
  scope: Scope,
  text: string,
  signal: AbortSignal,
): Promise<readonly ComboboxOption[]> {
  const term = text === "" ? {} : { searchTerm: text };
  if (type === "USER") {
    const { content } = await fetchData(userList, { query: { pageSize: SIZE, ...term } }, { signal });
    return content.map(({ uuid, name, email }) => ({
      value: principalKey({ type, scopeLevel: "account", identifier: uuid }),
      label: name,
      hint: email,
    }));
  }
  const found = await Promise.allSettled(scopesAround(scope).map((at) => searchAt(type, at, term, signal)));
  return found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
}

async function searchAt(
  type: "USER_GROUP" | "SERVICE_ACCOUNT",
  scope: Scope,
  term: { readonly searchTerm?: string },
  signal: AbortSignal,
): Promise<readonly ComboboxOption[]> {
  const scopeLevel = levelOf(scope);
  const query = { ...scope, pageSize: SIZE, ...term };
  const found =
    type === "USER_GROUP"
      ? (await fetchData(userGroupList, { query }, { signal })).content
      : (await fetchData(serviceAccountAggregates, { query }, { signal })).content.map((one) => one.serviceAccount);
  return found.map(({ identifier, name }) => ({
    value: principalKey({ type, scopeLevel, identifier }),
    label: name,
    hint: `${identifier} of the ${scopeLevel}`,
  }));
}
