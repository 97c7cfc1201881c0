/** What saving takes and refuses of Email steps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf, STEP_SPEC, withStep } from "./sample.ts";

const email = (...more: readonly string[]): string => withStep("Email", ["subject: Done", ...more]);

const TAKEN: readonly string[] = [
  email("to: ada@example.com"),
  email("to: 'ada@example.com, eve@example.com; bob@example.com'", "body: <p>Hi</p>"),
  email("to: [ada@example.com, <+pipeline.triggeredBy.email>]", "cc: <+trigger.payload.team>"),
  email("to: <+input>", "ccUserGroups: [org.ops, account.ops, <+input>]", "fireAndForget: true"),
  email("toUserGroups: [ops]", "cc: []", "to: ''", "body: <+steps.ask.status>"),
  withStep("Email", ["subject: <+input>.default(Done)", "toUserGroups: [ops]"]),
];

for (const [nth, text] of TAKEN.entries()) test(`taken: ${nth + 1}`, () => assert.deepEqual(faultsOf(text), []));

const many = Array.from({ length: 257 }, (_, nth) => `u${nth}@example.com`).join(", ");
const REFUSED: readonly (readonly [text: string, path: string, message: RegExp])[] = [
  [email(), "", /^Expected at least one of to and toUserGroups$/],
  [email("cc: ada@example.com"), "", /^Expected at least one of to and toUserGroups$/],
  [email("to: [Ada <ada@example.com>]"), ".to", /'Ada <ada@example.com>' is not an e-mail address/],
  [email("to: 'ada@example.com, eve'"), ".to", /'eve' is not an e-mail address/],
  [email("toUserGroups: [a b]"), ".toUserGroups[0]", /A reference is written like/],
  [email(`to: [${many}]`), ".to", /256/],
  [withStep("Email", ['subject: "a\\nb"', "to: a@example.com"]), ".subject", /no line breaks/],
  [withStep("Email", ["to: a@example.com"]), ".subject", /./],
  [email("to: a@example.com", 'body: <+secrets.getValue("account.x")>'), ".body", /a secret stands alone/],
  [email("to: a@example.com", "body: <+nonsense>"), ".body", /nonsense/],
  [email("to: a@example.com", "attachments: []"), ".attachments", /attachments/],
];

for (const [text, path, message] of REFUSED)
  test(`refused: ${path}: ${message.source.slice(0, 60)}`, () => {
    const faults = faultsOf(text);
    assert.equal(faults.length, 1, JSON.stringify(faults));
    assert.equal(faults[0]?.path.startsWith(`${STEP_SPEC}${path}`), true, faults[0]?.path ?? "");
    assert.match(faults[0]?.message ?? "", message);
    assert.match(faults[0]?.at ?? "", /^[1-9]\d*:[1-9]\d*$/);
  });
