/** Decides which operation takes the file of a form, from the document, before anything is executed. */
import {
  getArgumentValues,
  getDirectiveValues,
  getVariableValues,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";
import { operationOf, type Variables } from "./documents.ts";
import { problem } from "../problems.ts";

/**
 * The extension `upload` of a field of the root types: with these arguments, the field takes the form's file, which
 * is in the context as `file`.
 */
export type TakesFile = (args: Readonly<Record<string, unknown>>) => boolean;

type Values = Readonly<Record<string, unknown>>;

/**
 * Rejects a file that no field or several fields of the operation take. Only for validated documents; the execution
 * rejects wrong variables.
 */
export function checkFileIsTaken(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
  variables: Variables,
): void {
  const operation = operationOf(document, operationName);
  const root = operation && schema.getRootType(operation.operation);
  if (!operation || !root) throw problem("graphql.file_not_taken");
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables ?? {});
  if (!coerced) return;
  let takers = 0;
  for (const node of fieldsAtTop(document, operation.selectionSet, coerced)) {
    const field = root.getFields()[node.name.value];
    const takes = field?.extensions["upload"] as TakesFile | undefined;
    if (field && takes?.(getArgumentValues(field, node, coerced))) takers += 1;
  }
  if (takers === 0) throw problem("graphql.file_not_taken");
  if (takers > 1) throw problem("graphql.file_taken_twice");
}

/** The fields that will be executed, each response name once. */
function fieldsAtTop(document: DocumentNode, set: SelectionSetNode, variables: Values): Iterable<FieldNode> {
  const fields = new Map<string, FieldNode>();
  const visited = new Set<string>();
  const walk = ({ selections }: SelectionSetNode): void => {
    for (const node of selections) {
      if (!isIncluded(node, variables)) continue;
      if (node.kind === Kind.FIELD) fields.set((node.alias ?? node.name).value, node);
      else if (node.kind === Kind.INLINE_FRAGMENT) walk(node.selectionSet);
      else if (!visited.has(node.name.value)) {
        visited.add(node.name.value);
        const found = document.definitions.find(
          (each) => each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === node.name.value,
        );
        if (found?.kind === Kind.FRAGMENT_DEFINITION) walk(found.selectionSet);
      }
    }
  };
  walk(set);
  return fields.values();
}

const isIncluded = (node: SelectionNode, variables: Values): boolean =>
  getDirectiveValues(GraphQLSkipDirective, node, variables)?.["if"] !== true &&
  getDirectiveValues(GraphQLIncludeDirective, node, variables)?.["if"] !== false;
