import assert from "node:assert/strict";
import { test } from "node:test";
import { buildSchema, getVariableValues, GraphQLError, Kind, parse, validate } from "graphql";
import { messageWithoutValues } from "./without-values.ts";

const schema = buildSchema(`
  enum Kind { FILE TEXT }
  input Body { name: String!, value: String, size: Int, ratio: Float, really: Boolean, kind: Kind, ids: [ID] }
  type Query { ask(input: Body, kind: Kind, text: String): Int }
`);
const QUERY = "query($input: Body) { ask(input: $input) }";

function ofVariables(input: unknown): readonly string[] {
  const [operation] = parse(QUERY).definitions;
  assert.ok(operation?.kind === Kind.OPERATION_DEFINITION);
  const { errors } = getVariableValues(schema, operation.variableDefinitions ?? [], { input });
  return (errors ?? []).map((error) => messageWithoutValues(error));
}

function ofDocument(text: string): readonly string[] {
  try {
    return validate(schema, parse(text)).map((error) => messageWithoutValues(error));
  } catch (error) {
    assert.ok(error instanceof GraphQLError);
    return [messageWithoutValues(error)];
  }
}

const S = 's3cret at "input"; Field "x';

test("no error about a variable repeats its value", () => {
  const wrong: readonly unknown[] = [
    S,
    { value: S },
    { name: { deep: S } },
    { name: [S] },
    { name: "a", size: S },
    { name: "a", ratio: S },
    { name: "a", really: S },
    { name: "a", kind: S },
    { name: "a", kind: { a: S } },
    { name: "a", ids: [{ a: S }] },
    { name: "a", value: S, more: S },
  ];
  for (const input of wrong) {
    const messages = ofVariables(input);
    assert.ok(messages.length > 0, JSON.stringify(input));
    for (const message of messages) {
      assert.ok(!message.includes("s3cret"), message);
      assert.match(message, /^Variable "\$input" got invalid value/);
    }
  }
});

test("what is wrong and where is still said", () => {
  assert.deepEqual(ofVariables({ value: S }), [
    'Variable "$input" got invalid value; Field "name" of required type "String!" was not provided.',
  ]);
  assert.deepEqual(ofVariables({ name: "a", size: S, kind: S, more: 1 }), [
    'Variable "$input" got invalid value at "input.size"; Int cannot represent non-integer value.',
    'Variable "$input" got invalid value at "input.kind"; The value does not exist in "Kind" enum.',
    'Variable "$input" got invalid value; Field "more" is not defined by type "Body".',
  ]);
});

test("no error about a document repeats a value that stands in it", () => {
  const wrong = [
    '{ ask(input: "s3cret") }',
    '{ ask(input: { name: "a", size: "s3cret" }) }',
    '{ ask(input: { name: "a", kind: "s3cret" }) }',
    "{ ask(input: { name: s3cret }) }",
    '{ ask(input: { name: { a: "s3cret" } }) }',
    "{ ask(kind: s3cret) }",
    '{ ask(text: ["s3cret"]) }',
    '{ ask(input: { name: "a" "s3cret" }) }',
    '{ ask(text: """s3cret""" """s3cret""") }',
    '{ "s3cret" }',
  ];
  for (const text of wrong) {
    const messages = ofDocument(text);
    assert.ok(messages.length > 0, text);
    for (const message of messages) assert.ok(!message.includes("s3cret"), message);
  }
  assert.deepEqual(ofDocument("{ asks }"), ['Cannot query field "asks" on type "Query". Did you mean "ask"?']);
  assert.deepEqual(ofDocument("{ ask "), ["Syntax Error: Expected Name, found <EOF>."]);
});
