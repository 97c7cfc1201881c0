/**
 * Documents by their text: parsed, bounded and validated once, and compiled from the third use on. Compiling takes
 * milliseconds, so one-off queries are executed uncompiled. The cache is limited in bytes and removes the least
 * recently used first.
 */
import {
  execute,
  getVariableValues,
  GraphQLError,
  Kind,
  parse,
  Source,
  validate,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from "graphql";
import { compileQuery, isCompiledQuery, type CompiledQuery } from "graphql-jit";
import { createLru } from "../../lru.ts";
import { findExceededBound } from "../cost/bounds.ts";
import { costError, costOf, MAX_COST } from "../cost/cost.ts";
import { findExceededSyntaxBound } from "./syntax-bounds.ts";
import type { GraphqlContext } from "../builder.ts";

export type Variables = Readonly<Record<string, unknown>> | null;
export type Run = (context: GraphqlContext, variables: Variables) => Promise<ExecutionResult> | ExecutionResult;

const MAX_TOKENS = 4_000;
const MAX_CACHE_BYTES = 32 * 1024 * 1024;
/** Estimated memory of one parsed token: its place, its node, its share of the token list. */
const BYTES_PER_TOKEN = 500;
const COMPILE_AT_USE = 3;

type Entry = {
  readonly document: DocumentNode | undefined;
  readonly errors: readonly GraphQLError[];
  /** Functions that run the compiled operations, by name. */
  readonly compiled: Map<string, Run>;
  /** Operations whose cost depends on their variables. */
  readonly costly: ReadonlySet<OperationDefinitionNode>;
  /** Estimated bytes. */
  readonly weight: number;
  uses: number;
};

export type Documents = {
  /**
   * Returns the function that runs the operation of a text; errors when the text is not a valid document of the
   * schema.
   */
  readonly prepare: (
    text: string,
    operationName: string | undefined,
    variables: Variables,
  ) => { readonly run: Run; readonly document: DocumentNode } | { readonly errors: readonly GraphQLError[] };
};

export function createDocuments(schema: GraphQLSchema): Documents {
  const entries = createLru<string, Entry>(MAX_CACHE_BYTES, (_text, { weight }) => weight);

  function entryOf(text: string): Entry {
    const known = entries.get(text);
    if (known) return known;
    const entry = read(schema, text);
    entries.set(text, entry);
    return entry;
  }

  return {
    prepare(text, operationName, variables) {
      const entry = entryOf(text);
      if (!entry.document || entry.errors.length > 0) return { errors: entry.errors };
      const { document } = entry;
      entry.uses += 1;
      if (entry.costly.size > 0) {
        const operation = operationOf(document, operationName);
        const excess =
          operation && entry.costly.has(operation) && findExceededCost(schema, { document, operation, variables });
        if (excess) return { errors: [excess] };
      }
      const key = operationName ?? "";
      let run = entry.compiled.get(key);
      if (!run) {
        const operation = operationOf(document, operationName);
        // The reference implementation would answer `data: null`, as if it had executed something.
        if (operation && !schema.getRootType(operation.operation)) return { errors: [notServed(operation)] };
        if (operation && entry.uses >= COMPILE_AT_USE) {
          const made = compileQuery(schema, document, operationName);
          if (!isCompiledQuery(made)) return { errors: made.errors ?? [] };
          entry.compiled.set(key, (run = runCompiled(schema, { document, operationName, compiled: made })));
        }
      }
      if (run) return { document, run };
      return {
        document,
        run: (context, variables) =>
          execute({
            schema,
            document,
            contextValue: context,
            variableValues: variables,
            operationName: operationName ?? null,
            hideSuggestions: true,
          }),
      };
    },
  };
}

const notServed = (node: OperationDefinitionNode): GraphQLError =>
  new GraphQLError(`This server has no ${node.operation}.`, { nodes: node });

type CompiledOperation = {
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  readonly compiled: CompiledQuery;
};

// graphql-jit names the inner field in an error about a variable (`$op` for `$f[0].op`). The reference implementation
// provides the message of such an error.
const runCompiled =
  (schema: GraphQLSchema, { document, operationName, compiled }: CompiledOperation): Run =>
  (context, variables) => {
    const result = compiled.query(undefined, context, variables);
    if (result instanceof Promise || result.data !== undefined || !result.errors) return result;
    const operation = operationOf(document, operationName);
    const { errors } = getVariableValues(schema, operation?.variableDefinitions ?? [], variables ?? {}, {
      hideSuggestions: true,
    });
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

type CostlyOperation = {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Variables;
};

/** Called only for operations that may be too expensive; others were accepted for all variables. */
function findExceededCost(schema: GraphQLSchema, costly: CostlyOperation): GraphQLError | undefined {
  const cost = costOf(schema, costly);
  return cost > MAX_COST ? costError(cost) : undefined;
}

function read(schema: GraphQLSchema, text: string): Entry {
  const failed = (errors: readonly GraphQLError[], tokens = 0): Entry => ({
    document: undefined,
    errors,
    compiled: new Map(),
    costly: new Set(),
    weight: text.length + tokens * BYTES_PER_TOKEN,
    uses: 0,
  });
  const source = new Source(text);
  let document: DocumentNode;
  try {
    document = parse(source, { maxLexicalTokens: MAX_TOKENS });
  } catch (error) {
    // Any other error is an overflow of the parser's stack.
    const tooDeep = "Syntax Error: The query is nested too deeply.";
    return failed([error instanceof GraphQLError ? error : new GraphQLError(tooDeep)]);
  }
  // Each error would count the lines before its place, and a query may have thousands of errors below 100,000 lines.
  // Answers take the places from the tokens (errors.ts).
  source.body = "";
  const passed = findExceededSyntaxBound(document);
  if (passed) return failed([passed]);
  const errors = validate(schema, document, undefined, { maxErrors: 20, hideSuggestions: true });
  if (errors.length > 0) return failed(errors, document.tokenCount ?? 0);
  const bound = findExceededBound(document);
  if (bound) return failed([bound]);
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  const costly = operations.filter((operation) => costOf(schema, { document, operation }) > MAX_COST);
  return { ...failed([], document.tokenCount ?? 0), document, costly: new Set(costly) };
}
