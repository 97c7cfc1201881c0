/** Resources as schemas for api/openapi.json, generated from the attributes. */
import { z } from "zod";
import { attributesOf, type Attribute, type ResourceType } from "./attribute.ts";

type Way = "sent" | "shown";

/** A resource in a response. The caller selects attributes; these two are always present. */
export const shownShape = (type: ResourceType): z.ZodType =>
  z.strictObject({
    schemas: z.array(z.string()),
    ...shapesOf(attributesOf(type), "shown"),
    id: z.string(),
    ...extensionsOf(type, "shown"),
  });

/** A resource in a request, by the names of its schema; unknown attributes are ignored. */
export const sentShape = (type: ResourceType): z.ZodType =>
  z.object({
    schemas: z.array(z.string()).min(1),
    ...shapesOf(attributesOf(type), "sent"),
    ...extensionsOf(type, "sent"),
  });

const extensionsOf = ({ extensions }: ResourceType, way: Way): Record<string, z.ZodType> =>
  Object.fromEntries(extensions.map(({ id, attributes }) => [id, inner(attributes, way).optional()]));

const inner = (attributes: readonly Attribute[], way: Way) =>
  way === "shown" ? z.strictObject(shapesOf(attributes, way)) : z.object(shapesOf(attributes, way));

const shapesOf = (attributes: readonly Attribute[], way: Way): Record<string, z.ZodType> =>
  Object.fromEntries(
    attributes
      .filter(({ mutability, returned }) => (way === "shown" ? returned !== "never" : mutability !== "readOnly"))
      .map((attribute) => [attribute.name, shapeOf(attribute, way)]),
  );

function shapeOf(attribute: Attribute, way: Way): z.ZodType {
  const one = oneOf(attribute, way);
  const shape = (attribute.multiValued ? z.array(one) : one).describe(attribute.description);
  return way === "sent" && attribute.required ? shape : shape.optional();
}

function oneOf({ type, subAttributes = [] }: Attribute, way: Way): z.ZodType {
  if (type === "complex") return inner(subAttributes, way);
  if (type === "boolean") return z.boolean();
  return type === "integer" ? z.int() : z.string();
}
