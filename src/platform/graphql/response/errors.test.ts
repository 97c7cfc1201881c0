/**
 * The words of errors, from both executors: the path with list indices, locations, classification, and no cause that is
 * not the caller's.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { buildSchema, execute, parse, type ExecutionResult, type GraphQLObjectType } from "graphql";
import { compileQuery, isCompiledQuery } from "graphql-jit";
import { Problem } from "../../../core/problem.ts";
import { formatGraphqlError } from "./errors.ts";

const schema = buildSchema("type Query { a: A } type A { b: [A] name: String must: String! }");
const QUERY = "{ a {\n  b { x: name b { must } } } }";
for (const name of ["name", "must", "b"]) {
  const field = (schema.getType("A") as GraphQLObjectType).getFields()[name];
  assert.ok(field);
  // The compiled form calls resolvers only, never functions that it finds.
  field.resolve = (source: Record<string, unknown>) => {
    const value = source[name];
    return typeof value === "function" ? value() : value;
  };
}

const refuse = (): never => {
  throw new Problem("x.y", 403, "ACCESS_DENIED", "User not authorized");
};
const good = { name: "fine", must: "fine" };
const root = {
  a: {
    b: [
      good,
      { ...good, name: refuse },
      { ...good, b: [good, { must: () => Promise.reject(new Error("password=1")) }] },
    ],
  },
};

async function run(executor: "execute" | "compiled"): Promise<ExecutionResult> {
  const document = parse(QUERY);
  if (executor === "execute") return execute({ schema, document, rootValue: root });
  const compiled = compileQuery(schema, document);
  assert.ok(isCompiledQuery(compiled));
  return compiled.query(root, {}, {});
}

for (const executor of ["execute", "compiled"] as const)
  test(`errors as clients match them (${executor})`, async () => {
    const { errors = [] } = await run(executor);
    const explain = (error: unknown): Problem =>
      error instanceof Problem ? error : new Problem("http.unexpected", 500, "UNEXPECTED", "Something went wrong");
    assert.deepEqual(
      errors.map((error) => formatGraphqlError(error, explain)),
      [
        {
          message: "Exception while fetching data (/a/b[1]/x) : User not authorized",
          locations: [{ line: 2, column: 7 }],
          path: ["a", "b", 1, "x"],
          extensions: { classification: "DataFetchingException", code: "ACCESS_DENIED" },
        },
        {
          message: "Exception while fetching data (/a/b[2]/b[1]/must) : Something went wrong",
          locations: [{ line: 2, column: 19 }],
          path: ["a", "b", 2, "b", 1, "must"],
          extensions: { classification: "DataFetchingException", code: "UNEXPECTED" },
        },
      ],
    );
  });
