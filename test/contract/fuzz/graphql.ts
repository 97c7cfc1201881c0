/** GraphQL documents made from api/schema.graphql: with correct types, with wrong types, and invalid text. */
import { readFileSync } from "node:fs";
import {
  buildSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLField,
} from "graphql";
import { rubbish, rubbishNumber, rubbishText, type Chance } from "./chance.ts";
import { breakText, type Request } from "./graphql-faults.ts";
import { put, type Words } from "./values.ts";

export type Documents = (c: Chance, words: { readonly words: Words; readonly foreign: Words }) => unknown;

const schema = buildSchema(readFileSync(new URL("../../../api/schema.graphql", import.meta.url), "utf8"));

type Making = {
  readonly c: Chance;
  readonly words: Words;
  readonly variables: Map<string, { readonly type: string; readonly value: unknown }>;
  readonly fragments: string[];
};

/** Returns the body of a request: usually an object with a query, sometimes another value. */
export const documentOf: Documents = (c, { words, foreign }) => {
  const isMutation = c.often(45);
  const root = isMutation ? schema.getMutationType() : schema.getQueryType();
  const making: Making = { c, words: [...words, ...foreign], variables: new Map(), fragments: [] };
  const roots = Object.values(root?.getFields() ?? {});
  const count = c.often(15) ? 1 + c.upTo(3) : 1;
  const fields = Array.from(
    { length: count },
    (_, at) => `${count > 1 ? `f${at}: ` : ""}${fieldText(making, c.pick(roots), 0)}`,
  );
  const declared = [...making.variables].map(([name, { type }]) => `$${name}: ${type}`).join(", ");
  const head = `${isMutation ? "mutation" : "query"} Fuzz${declared ? `(${declared})` : ""}`;
  const query = `${head} { ${fields.join(" ")} }${making.fragments.join("")}`;
  const variables: Record<string, unknown> = {};
  for (const [name, { value }] of making.variables) if (!c.often(4)) put(variables, name, value);
  const request: Request = { query, variables: making.variables.size > 0 || c.often(50) ? variables : null };
  return c.often(20) ? breakText(c, request) : request;
};

function fieldText(making: Making, field: GraphQLField<unknown, unknown>, depth: number): string {
  const { c } = making;
  const given = field.args.filter((argument) => (isRequiredArgument(argument) ? !c.often(3) : c.often(50)));
  const list = given.map((argument) => `${argument.name}: ${argumentText(making, argument)}`);
  if (c.often(1)) list.push("nope: 1");
  const type = getNamedType(field.type);
  const directive = c.often(3)
    ? ` @${c.pick(["include", "skip"])}(if: ${c.pick(["true", "false", "null", '"x"'])})`
    : "";
  const name = c.often(5) ? `alias: ${field.name}` : field.name;
  return `${name}${list.length > 0 ? `(${list.join(", ")})` : ""}${directive}${selection(making, type, depth + 1)}`;
}

function selection(making: Making, type: GraphQLNamedType, depth: number): string {
  const { c } = making;
  if (!isCompositeType(type)) return c.often(1) ? " { id }" : "";
  const parts: string[] = ["__typename"];
  if (isAbstractType(type))
    for (const one of schema.getPossibleTypes(type))
      if (c.often(70)) parts.push(...fragment(making, one, selection(making, one, depth)));
  if ("getFields" in type) parts.push(...fieldsOf(making, type as GraphQLObjectType, depth));
  if (c.often(1)) parts.push("nope");
  return ` { ${parts.join(" ")} }`;
}

function fieldsOf(making: Making, type: GraphQLObjectType, depth: number): readonly string[] {
  const all = Object.values(type.getFields());
  const wanted = depth > 5 ? all.filter((field) => !isCompositeType(getNamedType(field.type))) : all;
  // The items of lists are below `nodes`. Without them the response shows little.
  return wanted
    .filter((field) => field.name === "nodes" || making.c.often(depth > 2 ? 30 : 60))
    .map((field) => fieldText(making, field, depth));
}

function fragment({ c, fragments }: Making, { name }: GraphQLObjectType, body: string): readonly string[] {
  if (!c.often(20)) return [`... on ${name}${body}`];
  const called = `F${fragments.length}`;
  fragments.push(` fragment ${called} on ${name}${body}`);
  return [`...${called}`];
}

function argumentText(making: Making, { type }: GraphQLArgument): string {
  const { c, variables } = making;
  const value = inputOf(making, type);
  if (c.often(40)) return literal(value, type);
  const name = `v${variables.size}`;
  variables.set(name, { type: c.often(3) ? "String" : String(type), value });
  return `$${name}`;
}

/** Returns a value for the type. One of ten is wrong, at any depth. */
function inputOf(making: Making, type: GraphQLInputType): unknown {
  const { c, words } = making;
  if (c.often(4)) return rubbish(c);
  if (isNonNullType(type)) return inputOf(making, type.ofType);
  if (c.often(3)) return null;
  if (isListType(type)) return Array.from({ length: c.often(3) ? 300 : c.upTo(3) }, () => inputOf(making, type.ofType));
  if (isEnumType(type)) return c.pick(type.getValues()).name;
  if (isInputObjectType(type)) {
    const made: Record<string, unknown> = {};
    for (const field of Object.values(type.getFields()))
      if (isRequiredInputField(field) ? !c.often(3) : c.often(35)) put(made, field.name, inputOf(making, field.type));
    return made;
  }
  switch (type.name) {
    case "Int":
      return c.often(70) ? 1 + c.upTo(100) : rubbishNumber(c);
    case "Long":
      return c.often(70) ? 1_799_999_999_000 + c.upTo(2_000) : rubbishNumber(c);
    case "Boolean":
      return c.often(50);
    default:
      return c.often(75) ? c.pick(words) : rubbishText(c);
  }
}

const NAME = /^[A-Za-z_]\w*$/;

function literal(value: unknown, type: GraphQLInputType | undefined): string {
  const bare = type && isNonNullType(type) ? type.ofType : type;
  if (Array.isArray(value))
    return `[${value.map((one) => literal(one, bare && isListType(bare) ? bare.ofType : undefined)).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = bare && isInputObjectType(bare) ? bare.getFields() : {};
    const shown = Object.entries(value).map(
      ([name, one]) =>
        `${NAME.test(name) ? name : "odd"}: ${literal(one, Object.hasOwn(fields, name) ? fields[name]?.type : undefined)}`,
    );
    return `{ ${shown.join(", ")} }`;
  }
  if (typeof value === "string" && bare && isEnumType(bare) && NAME.test(value)) return value;
  return JSON.stringify(value);
}
