/** All connector types. A new type is a file in this folder, and an entry here. */
import { containerRegistry } from "./container-registry.ts";
import { kubernetesCluster } from "./kubernetes-cluster.ts";
import type { AnyType } from "./type.ts";

export const connectorTypes: readonly AnyType[] = [containerRegistry, kubernetesCluster];

const byName = new Map(connectorTypes.map((type) => [type.name, type]));
const byAnyName = new Map(
  connectorTypes.flatMap((type) => [type.name, ...(type.aliases ?? [])].map((name) => [name, type])),
);

/** The names of a type in requests. Answers and the database have `type.name`. */
export const allTypeNames: readonly string[] = [...byAnyName.keys()];

/** Returns undefined for an unknown type. */
export const typeNamed = (name: unknown): AnyType | undefined =>
  typeof name === "string" ? byAnyName.get(name) : undefined;

/** The type of a stored connector. */
export function typeOf(connector: { readonly type: string }): AnyType {
  const type = byName.get(connector.type);
  if (!type) throw new Error(`a connector of the unknown type ${connector.type} is stored`);
  return type;
}
