/**
 * Estimates the values that an operation may fetch, before its execution: each field counts one, and fields below a
 * list count once for each possible entry. A list counts at least the rows that it reads, and its statements count
 * extra (decision 0023).
 */
import {
  getNamedType,
  getNullableType,
  GraphQLError,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";
import { DEFAULT_LIMIT, MAX_LIMIT, PLAIN_LIST } from "../list-limits.ts";

export const MAX_COST = 100_000;

/** Cost of the error for a negative `limit` or `offset`, which takes fifty times as long as a value. */
const FAILURE = 100;

/** Cost of a list beside its nodes, and of each field that counts its matches: a statement, or a part of one. */
const STATEMENT = 10;
const COUNTS = new Set(["total", "hasMore"]);

type Values = Readonly<Record<string, unknown>> | null;

type MeasuredOperation = {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** Without them, a limit that is a variable counts as the largest limit. */
  readonly variables?: Values | undefined;
};

/** The cost of an operation. */
export function costOf(schema: GraphQLSchema, { document, operation, variables }: MeasuredOperation): number {
  const argument = argumentIn(operation, variables);
  const known = new Map<string, number>();

  const ofFragment = (name: string, entries: number): number => {
    // Measured once for each length of the surrounding list, so that counting stays cheap.
    const key = `${name} ${entries}`;
    const earlier = known.get(key);
    if (earlier !== undefined) return earlier;
    const node = document.definitions.find(
      (each) => each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === name,
    );
    const cost =
      node?.kind === Kind.FRAGMENT_DEFINITION
        ? ofSet(node.selectionSet, schema.getType(node.typeCondition.name.value), entries)
        : 0;
    known.set(key, cost);
    return cost;
  };

  /** `entries` is the number of `nodes` of the list with this selection. */
  const ofSet = (set: SelectionSetNode, type: GraphQLNamedType | undefined, entries: number): number => {
    let cost = 0;
    for (const node of set.selections) {
      if (node.kind === Kind.FIELD) cost += ofField(node, type, entries);
      else if (node.kind === Kind.FRAGMENT_SPREAD) cost += ofFragment(node.name.value, entries);
      else {
        const narrowed = node.typeCondition ? schema.getType(node.typeCondition.name.value) : type;
        cost += ofSet(node.selectionSet, narrowed, entries);
      }
    }
    return cost;
  };

  const ofField = (node: FieldNode, parent: GraphQLNamedType | undefined, entries: number): number => {
    if (!node.selectionSet) return parent?.name === "PageInfo" && COUNTS.has(node.name.value) ? 1 + STATEMENT : 1;
    const field = fieldOf(parent, node.name.value);
    // Introspection reads memory and has its own limit on depth.
    if (!field) return 1 + ofSet(node.selectionSet, undefined, 1);
    const inner = getNamedType(field.type);
    const times = isListType(getNullableType(field.type)) ? (node.name.value === "nodes" ? entries : PLAIN_LIST) : 1;
    const composite = isCompositeType(inner) ? inner : undefined;
    if (!field.args.some(({ name }) => name === "limit")) return 1 + times * ofSet(node.selectionSet, composite, 1);
    const [limit, offset] = [argument(node, "limit"), argument(node, "offset")];
    const own = 1 + STATEMENT + (mayBeNegative(limit) || mayBeNegative(offset) ? FAILURE : 0);
    const rows = entriesOf(limit);
    // The rows are read even if the selection has no nodes.
    return own + Math.max(rows, ofSet(node.selectionSet, composite, rows));
  };

  return ofSet(operation.selectionSet, schema.getRootType(operation.operation) ?? undefined, 1);
}

export const costError = (cost: number): GraphQLError =>
  new GraphQLError(`The query may fetch ${cost} values; at most ${MAX_COST} are allowed. Ask for shorter lists.`);

function fieldOf(parent: GraphQLNamedType | undefined, name: string): GraphQLField<unknown, unknown> | undefined {
  if (name.startsWith("__") || parent?.name.startsWith("__")) return undefined;
  return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
}

/** A number, null for none, and "any" for a variable whose value is unknown or not a number. */
type Argument = number | null | "any";

const argumentIn =
  (operation: OperationDefinitionNode, variables: Values | undefined) =>
  (field: FieldNode, argument: "limit" | "offset"): Argument => {
    const given = field.arguments?.find(({ name }) => name.value === argument)?.value;
    if (given?.kind === Kind.INT) return Number(given.value);
    if (given?.kind !== Kind.VARIABLE) return null;
    if (variables === undefined) return "any";
    const name = given.name.value;
    if (variables !== null && Object.hasOwn(variables, name)) return ofValue(variables[name]);
    const definition = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name);
    return definition?.defaultValue?.kind === Kind.INT ? Number(definition.defaultValue.value) : null;
  };

const ofValue = (value: unknown): Argument =>
  value === null || value === undefined ? null : typeof value === "number" ? value : "any";

const mayBeNegative = (given: Argument): boolean => given === "any" || (given !== null && given < 0);

/** The most entries of a list with this limit. */
const entriesOf = (limit: Argument): number =>
  limit === "any" ? MAX_LIMIT : limit === null ? DEFAULT_LIMIT : Math.min(Math.max(limit, 1), MAX_LIMIT);
