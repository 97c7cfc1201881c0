/** What saving takes and refuses of barriers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf, SAMPLE } from "./sample.ts";

const HEAD = SAMPLE.slice(0, SAMPLE.indexOf("  stages:\n"));
const CONTROL = "  flowControl: {barriers: [{identifier: ready, name: Ready}, {identifier: done, name: Done}]}\n";

const barrier = (id: string, reference = "ready"): string =>
  `{step: {type: Barrier, name: ${id}, identifier: ${id}, spec: {barrierRef: ${reference}}}}`;
const group = (id: string, ...steps: readonly string[]): string =>
  `{stepGroup: {name: ${id}, identifier: ${id}, steps: [${steps.join(", ")}]}}`;
const parallel = (...items: readonly string[]): string => `{parallel: [${items.join(", ")}]}`;
const stage = (id: string, steps: readonly string[], more = ""): string =>
  `{stage: {name: ${id}, identifier: ${id}, type: Deployment, ${more}spec: {serviceConfig: {serviceRef: a}, infrastructure: {environmentRef: b}, execution: {steps: [${steps.join(", ")}]}}}}`;

/** Each item of `stages` stands on a line of its own. */
const pipeline = (stages: readonly string[], control = CONTROL): string =>
  `${HEAD}${control}  stages:\n${stages.map((one) => `    - ${one}\n`).join("")}`;
const steps = (...items: readonly string[]): string => pipeline([stage("s", items)]);

const TAKEN: readonly string[] = [
  pipeline([parallel(stage("a", [barrier("x")]), stage("b", [barrier("y")]))]),
  steps(parallel(barrier("x"), barrier("y"))),
  steps(parallel(group("g", barrier("x"), barrier("z", "done")), group("h", barrier("x"), barrier("z", "done")))),
  steps(parallel(barrier("x"), group("g", parallel(barrier("y"), barrier("z"))))),
  steps(barrier("x")),
  steps(barrier("x", "<+input>"), barrier("y", "'<+input>.allowedValues(ready,done)'")),
  pipeline([stage("s", [barrier("x")])], "  flowControl: {barriers: [{identifier: ready, name: Ready}]}\n"),
  pipeline([stage("s", [group("g", parallel(barrier("x"), barrier("y")))])]),
  `${HEAD}  flowControl: {}\n${SAMPLE.slice(HEAD.length)}`,
];

for (const [nth, text] of TAKEN.entries()) test(`taken: ${nth + 1}`, () => assert.deepEqual(faultsOf(text), []));

const LOOP = "strategy: {repeat: {times: 2}}, ";
const REFUSED: readonly (readonly [text: string, message: RegExp])[] = [
  [steps(barrier("x", "other")), /^flowControl.barriers has no barrier 'other'; there are: ready, done$/],
  [pipeline([stage("s", [barrier("x")])], ""), /has no barrier 'ready'; there are none$/],
  [steps(barrier("x", "<+pipeline.name>")), /^Expected the identifier of a barrier, without expressions$/],
  [steps(barrier("x"), barrier("y")), /^Step 'x' waits for this one at barrier 'ready' and comes before it/],
  [steps(group("g", barrier("x")), group("h", barrier("y"))), /^Step 'x' waits for this one/],
  [steps(parallel(group("g", barrier("x"), barrier("y")), barrier("z"))), /^Step 'x' waits for this one/],
  [pipeline([stage("a", [barrier("x")]), stage("b", [barrier("y")])]), /^Step 'x' waits for this one/],
  [pipeline([stage("s", [barrier("x")], LOOP)]), /^A Barrier step cannot be repeated/],
  [steps(`{step: {type: Barrier, name: x, identifier: x, ${LOOP}spec: {barrierRef: ready}}}`), /cannot be repeated/],
  [
    pipeline(
      [stage("s", [barrier("x", "a")])],
      "  flowControl: {barriers: [{identifier: a, name: A}, {identifier: a, name: B}]}\n",
    ),
    /^The barrier 'a' is given twice$/,
  ],
  [
    pipeline([stage("s", [barrier("x")])], "  flowControl: {barriers: [{identifier: a b, name: A}]}\n"),
    /^An identifier has letters/,
  ],
  [pipeline([stage("s", [barrier("x")])], "  flowControl: {locks: []}\n"), /locks/],
];

for (const [text, message] of REFUSED)
  test(`refused: ${message.source}`, () => {
    const faults = faultsOf(text);
    assert.equal(faults.length, 1, JSON.stringify(faults));
    const [fault] = faults;
    assert.match(fault?.message ?? "", message);
    assert.match(fault?.at ?? "", /^[1-9]\d*:[1-9]\d*$/);
  });
