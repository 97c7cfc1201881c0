/** All types of connectors. A further one is a file beside this one, and a name here. */
import { containerRegistry } from "./container-registry.ts";
import type { AnyType } from "./type.ts";

export const connectorTypes: readonly AnyType[] = [containerRegistry];

const byName = new Map(connectorTypes.map((type) => [type.name, type]));

/** Undefined for a type that the wider language may have and we lack. */
export const typeNamed = (name: unknown): AnyType | undefined =>
  typeof name === "string" ? byName.get(name) : undefined;

/** The type of a connector that exists. */
export function typeOf(connector: { readonly type: string }): AnyType {
  const type = byName.get(connector.type);
  if (!type) throw new Error(`a connector of the unknown type ${connector.type} is stored`);
  return type;
}
