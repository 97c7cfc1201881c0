import assert from "node:assert/strict";
import { test } from "node:test";
import { decideScoping, type Scoping, type ScopingInput } from "./scoping.ts";
import { ENTIRE_ACCOUNT, type UsageScope } from "./usage-scope.ts";

const PRODUCTION: UsageScope = ENTIRE_ACCOUNT.slice(0, 1);
const scoping = (usageScope: UsageScope | null, inheritsScope: boolean, scopedToAccount = false): Scoping => ({
  usageScope,
  inheritsScope,
  scopedToAccount,
});
const INHERITS = scoping(null, true);
const EXPLICIT = scoping(PRODUCTION, false);
const NONE = scoping(null, false);

const creations: readonly (readonly [what: string, given: ScopingInput, decided: Scoping])[] = [
  ["nothing said", {}, INHERITS],
  ["the inheriting form", { scopedToAccount: false, inheritsScope: true, usageScope: null }, INHERITS],
  ["the explicit form", { usageScope: PRODUCTION }, EXPLICIT],
  ["the explicit form in full", { usageScope: PRODUCTION, inheritsScope: false, scopedToAccount: false }, EXPLICIT],
  ["mixed: inheriting wins", { usageScope: PRODUCTION, inheritsScope: true }, INHERITS],
  ["scoped to the account", { scopedToAccount: true }, scoping(null, false, true)],
  ["scoped to the account, inheriting", { scopedToAccount: true, inheritsScope: true }, scoping(null, true, true)],
  [
    "scoped to the account, explicit",
    { scopedToAccount: true, usageScope: PRODUCTION },
    scoping(PRODUCTION, false, true),
  ],
  ["no scope at all", { inheritsScope: false }, NONE],
  ["an empty scope", { inheritsScope: false, usageScope: [] }, NONE],
];
for (const [what, given, decided] of creations)
  test(`a new secret, ${what}`, () => assert.deepEqual(decideScoping(given), decided));

const updates: readonly (readonly [what: string, current: Scoping, given: ScopingInput, decided: Scoping])[] = [
  ["nothing said", EXPLICIT, {}, EXPLICIT],
  ["nothing said of an inheriting one", INHERITS, {}, INHERITS],
  ["a scope ends inheriting", INHERITS, { usageScope: PRODUCTION }, EXPLICIT],
  ["inheriting ends a scope", EXPLICIT, { inheritsScope: true }, INHERITS],
  ["mixed: inheriting wins", EXPLICIT, { inheritsScope: true, usageScope: ENTIRE_ACCOUNT }, INHERITS],
  ["a scope is taken away", EXPLICIT, { usageScope: null }, NONE],
  ["an empty scope takes it away", EXPLICIT, { usageScope: [] }, NONE],
  ["inheriting ends without a scope", INHERITS, { inheritsScope: false }, NONE],
  ["the account's flag alone", EXPLICIT, { scopedToAccount: true }, scoping(PRODUCTION, false, true)],
  ["the account's flag taken back", scoping(null, false, true), { scopedToAccount: false }, NONE],
];
for (const [what, current, given, decided] of updates)
  test(`a secret that is there, ${what}`, () => assert.deepEqual(decideScoping(given, current), decided));
