/**
 * Documents by their text: parsed, bounded and validated once, compiled from the
 * third use on (compiling costs milliseconds, so a stranger's one-off queries
 * are executed uncompiled). Kept by text, bounded in bytes, least recently used
 * first out.
 */
import {
  execute,
  getVariableValues,
  GraphQLError,
  Kind,
  parse,
  validate,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from "graphql";
import { compileQuery, isCompiledQuery, type CompiledQuery } from "graphql-jit";
import { makeLru } from "../../core/lru.ts";
import { boundPassed } from "./bounds.ts";
import type { GraphqlContext } from "./builder.ts";

export type Variables = Readonly<Record<string, unknown>> | null;
export type Run = (context: GraphqlContext, variables: Variables) => Promise<ExecutionResult> | ExecutionResult;

const MAX_TOKENS = 4_000;
const MAX_CACHE_BYTES = 4 * 1024 * 1024;
const COMPILE_AT_USE = 3;

type Entry = {
  readonly document: DocumentNode | undefined;
  readonly errors: readonly GraphQLError[];
  readonly compiled: Map<string, CompiledQuery>;
  uses: number;
};

export type Documents = {
  /** How to run the operation of a text; errors when the text is no valid document of the schema. */
  readonly prepare: (
    text: string,
    operationName: string | undefined,
  ) => { readonly run: Run; readonly document: DocumentNode } | { readonly errors: readonly GraphQLError[] };
};

export function makeDocuments(schema: GraphQLSchema): Documents {
  const entries = makeLru<string, Entry>(MAX_CACHE_BYTES, (text) => text.length);

  function entryOf(text: string): Entry {
    const entry = entries.get(text) ?? read(schema, text);
    entries.set(text, entry);
    return entry;
  }

  return {
    prepare(text, operationName) {
      const entry = entryOf(text);
      if (!entry.document || entry.errors.length > 0) return { errors: entry.errors };
      const { document } = entry;
      entry.uses += 1;
      const key = operationName ?? "";
      let compiled = entry.compiled.get(key);
      if (!compiled) {
        const operation = operationOf(document, operationName);
        // The reference implementation would answer `data: null`, as if something had been executed.
        if (operation && !schema.getRootType(operation.operation)) return { errors: [notServed(operation)] };
        if (operation && entry.uses >= COMPILE_AT_USE) {
          const made = compileQuery(schema, document, operationName);
          if (!isCompiledQuery(made)) return { errors: made.errors ?? [] };
          entry.compiled.set(key, (compiled = made));
        }
      }
      if (compiled) return { document, run: runCompiled(schema, document, operationName, compiled) };
      return {
        document,
        run: (context, variables) =>
          execute({
            schema,
            document,
            contextValue: context,
            variableValues: variables,
            operationName: operationName ?? null,
          }),
      };
    },
  };
}

const notServed = (node: OperationDefinitionNode): GraphQLError =>
  new GraphQLError(`This server has no ${node.operation}.`, { nodes: node });

// graphql-jit names the inner field in an error about a variable (`$op` for `$f[0].op`);
// on such an error the reference implementation is asked for the message.
const runCompiled =
  (schema: GraphQLSchema, document: DocumentNode, operationName: string | undefined, compiled: CompiledQuery): Run =>
  (context, variables) => {
    const result = compiled.query(undefined, context, variables);
    if (result instanceof Promise || result.data !== undefined || !result.errors) return result;
    const operation = operationOf(document, operationName);
    const { errors } = getVariableValues(schema, operation?.variableDefinitions ?? [], variables ?? {});
    return errors ? { errors } : result;
  };

export function operationOf(document: DocumentNode, name: string | undefined): OperationDefinitionNode | undefined {
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  return name === undefined
    ? operations.length === 1
      ? operations[0]
      : undefined
    : operations.find((node) => node.name?.value === name);
}

function read(schema: GraphQLSchema, text: string): Entry {
  const entry = (document: DocumentNode | undefined, errors: readonly GraphQLError[]): Entry => ({
    document,
    errors,
    compiled: new Map(),
    uses: 0,
  });
  let document: DocumentNode;
  try {
    document = parse(text, { maxLexicalTokens: MAX_TOKENS });
  } catch (error) {
    // Anything else is the parser's stack at its end.
    const tooDeep = "Syntax Error: The query is nested too deeply.";
    return entry(undefined, [error instanceof GraphQLError ? error : new GraphQLError(tooDeep)]);
  }
  const errors = validate(schema, document, undefined, { maxErrors: 20 });
  if (errors.length > 0) return entry(document, errors);
  const passed = boundPassed(document);
  return entry(document, passed ? [passed] : []);
}
