import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { newBudget } from "./budget.ts";
import { checkTemplate, readsOf } from "./check.ts";
import { ExpressionError } from "./error.ts";
import { FUNCTIONS, METHODS } from "./functions.ts";
import { MAX_ITEMS, MAX_RESULT_BYTES, MAX_WORK } from "./limits.ts";
import { isList } from "./place.ts";
import { evaluateCondition, evaluateTemplate, evaluateValue } from "./template.ts";
import { scopeOf } from "./testing/sample-scope.ts";

const BIG = "aab<a>[{".repeat(30_000);

const scope = {
  ...scopeOf({
    pipeline: { name: "release", variables: { big: BIG, n: 3, list: ["a", 1, null, [true]] } },
    trigger: { payload: { json: '{"a":[1,{"b":2}]}', xml: "<a><b c='d'>e</b></a>", pattern: "(a|b)*c", none: null } },
  }),
  now: Date.UTC(2026, 10, 23),
};

const leaf = fc.constantFrom(
  ...["1", "0", "-2.5", "'a'", '""', "'a+b|(c)'", "true", "null", "[]", "['a', 1]", "'$1'", "'yyyy-MM'", "'/a/b'"],
  ...["pipeline.name", "pipeline.variables.big", "pipeline.variables.list", "trigger.payload.json", "pipeline"],
  ...[
    "trigger.payload.xml",
    "trigger.payload.pattern",
    "trigger.payload.none",
    "trigger.nope.x",
    "datetime.currentDate",
  ],
);

const signs = "== != < <= > >= =~ !~ =^ =$ + - * / % && || ?? ?: and or eq ne lt div mod".split(" ");

/** Expressions of the right syntax: every operator, method and function, on values of every type. */
const expression = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc
      .tuple(tie("any"), fc.constantFrom(...signs), tie("any"))
      .map(([left, sign, right]) => `(${left} ${sign} ${right})`),
    fc.tuple(tie("any"), tie("any"), tie("any")).map(([one, two, three]) => `(${one} ? ${two} : ${three})`),
    fc.tuple(fc.constantFrom("!", "not ", "-", "empty ", "size "), tie("any")).map(([sign, one]) => `${sign}(${one})`),
    fc
      .tuple(
        tie("any"),
        fc.constantFrom(".", "?."),
        fc.constantFrom(...METHODS),
        fc.array(tie("any"), { maxLength: 3 }),
      )
      .map(([of, dot, { name, params }, args]) => `(${of})${dot}${name}(${args.slice(0, params.length).join(", ")})`),
    fc
      .tuple(fc.constantFrom(...FUNCTIONS), fc.array(tie("any"), { maxLength: 3 }))
      .map(([{ name, params }, args]) => `${name}(${args.slice(0, params.length).join(", ")})`),
    fc.tuple(tie("any"), tie("any")).map(([of, key]) => `(${of})[${key}]`),
    fc.array(tie("any"), { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
    tie("any").map((one) => `<+ ${one} >`),
  ),
})).any;

function requireBounded<T>(evaluateIt: () => T): T | undefined {
  try {
    return evaluateIt();
  } catch (error) {
    assert.ok(error instanceof ExpressionError, String(error));
    assert.doesNotMatch(error.message, /aab<a>/, "messages quote no values");
    return undefined;
  }
}

test("property: whatever an expression does, it has a bounded value or an ExpressionError, for bounded work", () => {
  fc.assert(
    fc.property(expression, (source) => {
      const text = `<+${source}>`;
      const budget = newBudget();
      const value = requireBounded(() => evaluateValue(text, scope, budget)) ?? null;
      assert.ok(Buffer.byteLength(JSON.stringify(value)) <= 2 * MAX_RESULT_BYTES);
      if (isList(value)) assert.ok(value.length <= MAX_ITEMS);
      // The last step may go beyond the limit by what it costs itself.
      assert.ok(budget.work <= 2 * MAX_WORK, String(budget.work));
      const filled = requireBounded(() => evaluateTemplate(`v=${text}`, scope, newBudget()));
      assert.ok(filled === undefined || typeof filled === "string");
      const isMet = requireBounded(() => evaluateCondition(source, scope, newBudget()));
      assert.ok(isMet === undefined || typeof isMet === "boolean");
    }),
    { numRuns: 1500 },
  );
});

test("property: an expression that the check accepts is never of a wrong syntax, nor has it unknown names", () => {
  fc.assert(
    fc.property(expression, (source) => {
      const text = `<+${source}>`;
      fc.pre(checkTemplate(text).length === 0);
      readsOf(text);
      try {
        evaluateValue(text, scope, newBudget());
      } catch (error) {
        assert.ok(error instanceof ExpressionError);
        assert.ok(
          ["unresolved", "type", "limit"].includes(error.fault) || /pattern|path/.test(error.message),
          error.message,
        );
      }
    }),
    { numRuns: 1000 },
  );
});

test("property: what is no boolean is no condition, and the same value has the same text", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.integer(), fc.array(fc.boolean()), fc.constant(null)), (value) => {
      fc.pre(value !== "true" && value !== "false");
      const within = scopeOf({ pipeline: { variables: { value } } });
      const text = "<+pipeline.variables.value>";
      assert.throws(() => evaluateCondition(text, within, newBudget()), /true or false is needed here, not (a|null)/);
      assert.deepEqual(evaluateValue(text, within, newBudget()), value);
    }),
  );
});
