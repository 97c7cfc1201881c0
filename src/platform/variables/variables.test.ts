import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest, unknownVariables } from "./variables.ts";

const messages = (program: "server" | "delegate", ...names: readonly string[]): readonly string[] =>
  unknownVariables(Object.fromEntries(names.map((name) => [name, "hunter2"])), program).map(({ message }) => message);

test("an unknown variable is named with the nearest known one, never with its value", () => {
  assert.deepEqual(
    messages("server", "RAILHEAD_DATADIR", "RAILHEAD_PORT", "RAILHEAD_DATABASE_URL", "RAILHEAD_COLOUR"),
    [
      "RAILHEAD_COLOUR has no effect: the server has no such variable",
      "RAILHEAD_DATABASE_URL has no effect: the server has no such variable; did you mean DATABASE_URL?",
      "RAILHEAD_DATADIR has no effect: the server has no such variable; did you mean RAILHEAD_DATA_DIR?",
      "RAILHEAD_PORT has no effect: the server has no such variable; did you mean PORT?",
    ],
  );
  assert.deepEqual(messages("delegate", "RAILHEAD_DELEGATE_TOKENS"), [
    "RAILHEAD_DELEGATE_TOKENS has no effect: the delegate has no such variable; did you mean RAILHEAD_DELEGATE_TOKEN?",
  ]);
});

test("a variable of the other program is told as that", () => {
  assert.deepEqual(messages("delegate", "RAILHEAD_STEP_PATH"), [
    "RAILHEAD_STEP_PATH has no effect on the delegate: only the server reads it",
  ]);
});

test("known variables, those of steps and those of other programs are left alone", () => {
  assert.deepEqual(
    messages("server", "RAILHEAD_DATA_DIR", "RAILHEAD_ROOT_KEY_PREVIOUS_COMMAND", "PATH", "RAILHAED_X"),
    [],
  );
  assert.deepEqual(messages("delegate", "RAILHEAD_DELEGATE_TOKEN", "RAILHEAD_TASK", "RAILHEAD_EXPR_1"), []);
});

test("the nearest name counts edits, and too many are no name at all", () => {
  assert.equal(nearest("RAILHEAD_OIDC_ISUER", ["RAILHEAD_OIDC_NAME", "RAILHEAD_OIDC_ISSUER"]), "RAILHEAD_OIDC_ISSUER");
  assert.equal(nearest("RAILHEAD_X", ["RAILHEAD_OIDC_NAME"]), undefined);
});
