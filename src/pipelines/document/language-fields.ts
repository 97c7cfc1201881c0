/** The fields of a schema of the pipeline language, as its reference lists them. */
import type { z } from "zod";
import { later, valueForms } from "../../steps/schema/fields.ts";

export type LanguageField = {
  /** From the top of the section, as in `source.spec.script`; items of lists have `[]`. */
  readonly name: string;
  /** What may stand there. */
  readonly value: string;
  readonly isRequired: boolean;
  /** Empty where the schema has none. */
  readonly description: string;
};

type Options = {
  /** Fields of these names are listed without what stands in them. */
  readonly stop?: readonly string[];
};

/** In the order of the schema; fields that are refused by their name are left out. */
export function fieldsIn(schema: z.ZodType, { stop = [] }: Options): readonly LanguageField[] {
  const found = new Map<string, LanguageField>();
  for (const field of below(schema, "", new Set(stop))) {
    const known = found.get(field.name);
    // Of several forms: those of the type are listed together.
    if (!known) found.set(field.name, field);
    else if (known.value !== field.value && !known.value.split(", ").includes(field.value))
      found.set(field.name, { ...known, value: `${known.value}, ${field.value}` });
  }
  return [...found.values()];
}

/** The parts of a zod schema that the walk reads. */
type Def = {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly out?: z.ZodType;
  readonly shape?: { readonly [field: string]: z.ZodType };
  readonly catchall?: z.ZodType;
  readonly entries?: { readonly [key: string]: string };
  readonly values?: readonly unknown[];
};

const defOf = (schema: z.ZodType): Def => schema._zod.def;

/** What is wrapped, from the outside inwards, the schema itself first. */
function layersOf(schema: z.ZodType): readonly z.ZodType[] {
  const { type, innerType, out } = defOf(schema);
  const inner = type === "pipe" ? out : innerType;
  return inner ? [schema, ...layersOf(inner)] : [schema];
}

const coreOf = (schema: z.ZodType): z.ZodType => layersOf(schema).at(-1) ?? schema;

function below(schema: z.ZodType, prefix: string, stop: ReadonlySet<string>): readonly LanguageField[] {
  const core = coreOf(schema);
  const { type, shape = {}, options = [], element, catchall } = defOf(core);
  if (type === "union") return options.flatMap((one) => below(one, prefix, stop));
  if (type === "array" && element)
    return below(element, `${prefix.replace(/\.$/, "")}[].`.replace(/^\[\]\./, ""), stop);
  if (type !== "object") return [];
  const fields = Object.entries(shape).flatMap(([name, field]) => {
    if (field === later || isNever(field)) return [];
    const own = fieldOf(`${prefix}${name}`, field);
    return stop.has(name) ? [own] : [own, ...below(field, `${prefix}${name}.`, stop)];
  });
  const other = catchall && defOf(catchall).type !== "never" ? [fieldOf(`${prefix}NAME`, catchall)] : [];
  return [...fields, ...other.map((field) => ({ ...field, isRequired: false }))];
}

const isNever = (schema: z.ZodType): boolean => defOf(coreOf(schema)).type === "never";

const fieldOf = (name: string, schema: z.ZodType): LanguageField => ({
  name,
  value: valueOf(schema),
  isRequired: !layersOf(schema).some((one) => ["optional", "nullable"].includes(defOf(one).type)),
  description: layersOf(schema).find(({ description }) => description !== undefined)?.description ?? "",
});

const NOUNS: { readonly [type: string]: string } = {
  string: "text",
  number: "number",
  boolean: "`true` or `false`",
  object: "map",
  record: "map",
  unknown: "map",
};

function valueOf(schema: z.ZodType): string {
  const form = layersOf(schema)
    .map((one) => valueForms.get(one)?.form)
    .find((one) => one !== undefined);
  if (form !== undefined) return form;
  const { type, element, options = [], entries = {}, values = [] } = defOf(coreOf(schema));
  if (type === "enum")
    return Object.values(entries)
      .map((one) => `\`${one}\``)
      .join(", ");
  if (type === "literal") return values.map((one) => `\`${String(one)}\``).join(", ");
  if (type === "array") return element ? `list of ${valueOf(element)}` : "list";
  if (type === "union") return [...new Set(options.map(valueOf).filter((one) => one !== ""))].join(" or ");
  return type === "null" ? "" : (NOUNS[type] ?? type);
}
