import assert from "node:assert/strict";
import { test } from "node:test";
import type { Uuid } from "../../core/ids.ts";
import {
  findUncovered,
  ENTIRE_ACCOUNT,
  describeOutside,
  permits,
  type AppEnvScope,
  type RunPlace,
  type UsageScope,
} from "./usage-scope.ts";

const id = (nth: number): Uuid => `00000000-0000-7000-8000-00000000000${nth}` as Uuid;
const [SHOP, BANK, LIVE, STAGE, SHARED] = [id(1), id(2), id(3), id(4), id(5)];
const PROD = "PRODUCTION_ENVIRONMENTS";
const NONPROD = "NON_PRODUCTION_ENVIRONMENTS";

/** `[application or null, kind or environment]` */
const entry = ([applicationId, environment]: readonly [Uuid | null, string]): AppEnvScope =>
  environment === PROD || environment === NONPROD
    ? { applicationId, environmentId: null, environments: environment }
    : { applicationId, environmentId: environment as Uuid, environments: null };
const scope = (...entries: (readonly [Uuid | null, string])[]): UsageScope => entries.map((each) => entry(each));
const at = (applicationId: Uuid, environmentId: Uuid | null, production: boolean | null): RunPlace => ({
  applicationId,
  environmentId,
  production,
  names: { application: "shop", environment: "live" },
});

const outside = (applicationId: Uuid): RunPlace => ({ ...at(applicationId, null, null), isOutside: true });

const uses: readonly (readonly [what: string, scope: UsageScope | null, place: RunPlace, permitted: boolean])[] = [
  ["no scope at all", null, at(SHOP, LIVE, true), false],
  ["an empty scope", [], at(SHOP, LIVE, true), false],
  ["everything, in production", ENTIRE_ACCOUNT, at(SHOP, LIVE, true), true],
  ["everything, elsewhere", ENTIRE_ACCOUNT, at(BANK, STAGE, false), true],
  ["everything, without an environment", ENTIRE_ACCOUNT, at(SHOP, null, null), false],
  ["production of all, in production", scope([null, PROD]), at(SHOP, LIVE, true), true],
  ["production of all, elsewhere", scope([null, PROD]), at(SHOP, STAGE, false), false],
  ["production of all, without an environment", scope([null, PROD]), at(SHOP, null, null), false],
  ["the rest of all, elsewhere", scope([null, NONPROD]), at(SHOP, STAGE, false), true],
  ["the rest of all, in production", scope([null, NONPROD]), at(SHOP, LIVE, true), false],
  ["one application's production, there", scope([SHOP, PROD]), at(SHOP, LIVE, true), true],
  ["one application's production, in another's", scope([SHOP, PROD]), at(BANK, LIVE, true), false],
  ["one application's production, elsewhere", scope([SHOP, PROD]), at(SHOP, STAGE, false), false],
  ["one environment, there", scope([null, LIVE]), at(SHOP, LIVE, true), true],
  ["one environment, in another one", scope([null, LIVE]), at(SHOP, STAGE, true), false],
  ["one environment, without one", scope([null, LIVE]), at(SHOP, null, null), false],
  ["everything, outside of environments", ENTIRE_ACCOUNT, outside(SHOP), true],
  ["nothing, outside of environments", null, outside(SHOP), false],
  ["all of one application, outside of environments", scope([SHOP, PROD], [SHOP, NONPROD]), outside(SHOP), true],
  ["all of another application, outside of environments", scope([BANK, PROD], [BANK, NONPROD]), outside(SHOP), false],
  ["halves of two applications, outside of environments", scope([SHOP, PROD], [BANK, NONPROD]), outside(SHOP), false],
  ["production of all, outside of environments", scope([null, PROD]), outside(SHOP), false],
  ["the rest of all, outside of environments", scope([null, NONPROD]), outside(SHOP), false],
  ["one environment, outside of environments", scope([null, LIVE], [null, NONPROD]), outside(SHOP), false],
  ["one environment of one application, there", scope([SHOP, LIVE]), at(SHOP, LIVE, false), true],
  ["one environment of one application, in another's", scope([SHOP, LIVE]), at(BANK, LIVE, true), false],
  ["two entries, the second", scope([SHOP, PROD], [BANK, STAGE]), at(BANK, STAGE, false), true],
  ["two entries, halves of both", scope([SHOP, PROD], [BANK, STAGE]), at(SHOP, STAGE, false), false],
];
for (const [what, of, place, permitted] of uses)
  test(`${what}: ${permitted ? "permitted" : "refused"}`, () => assert.equal(permits(of, place), permitted));

const facts = new Map([
  [LIVE, { applicationId: SHOP, production: true }],
  [STAGE, { applicationId: SHOP, production: false }],
  [SHARED, { applicationId: null, production: true }],
]);
const limits: readonly (readonly [what: string, inner: UsageScope, outer: UsageScope | null, within: boolean])[] = [
  ["everything in everything", ENTIRE_ACCOUNT, ENTIRE_ACCOUNT, true],
  ["anything in nothing", scope([null, PROD]), null, false],
  ["production in production", scope([null, PROD]), scope([null, PROD]), true],
  ["production in the rest", scope([null, PROD]), scope([null, NONPROD]), false],
  ["one application in all", scope([SHOP, PROD]), scope([null, PROD]), true],
  ["all in one application", scope([null, PROD]), scope([SHOP, PROD]), false],
  ["one application in another", scope([SHOP, PROD]), scope([BANK, PROD]), false],
  ["a production environment in production", scope([null, LIVE]), scope([null, PROD]), true],
  ["a production environment in the rest", scope([null, LIVE]), scope([null, NONPROD]), false],
  ["an environment in its application", scope([null, LIVE]), scope([SHOP, PROD]), true],
  ["an environment in another application", scope([null, LIVE]), scope([BANK, PROD]), false],
  ["an environment of no application in one", scope([null, SHARED]), scope([SHOP, PROD]), false],
  ["an environment in itself", scope([SHOP, LIVE]), scope([null, LIVE]), true],
  ["an environment in another", scope([null, STAGE]), scope([null, LIVE]), false],
  ["a kind in one environment", scope([SHOP, PROD]), scope([SHOP, LIVE]), false],
  ["an unknown environment in production", scope([null, id(9)]), scope([null, PROD]), false],
  ["one of two entries outside", scope([SHOP, PROD], [BANK, NONPROD]), scope([null, PROD]), false],
  ["two entries in two", scope([SHOP, PROD], [BANK, NONPROD]), scope([BANK, NONPROD], [null, PROD]), true],
];
for (const [what, inner, outer, within] of limits)
  test(`${what}: ${within ? "within" : "beyond"}`, () =>
    assert.equal(findUncovered(inner, outer, facts) === undefined, within));

test("an uncovered entry is named", () => {
  const inner = scope([SHOP, PROD], [BANK, NONPROD]);
  assert.equal(findUncovered(inner, scope([null, PROD]), facts), inner[1]);
});

test("the message names the uncovered application, the environment with its kind, or both", () => {
  const cases: readonly (readonly [UsageScope, RunPlace, string])[] = [
    [scope([SHOP, PROD]), at(SHOP, STAGE, false), "the run's environment [live] (not production) is outside"],
    [scope([SHOP, NONPROD]), at(SHOP, LIVE, true), "the run's environment [live] (production) is outside"],
    [scope([null, PROD]), at(SHOP, null, null), "the run's environment [live] (not there) is outside"],
    [scope([BANK, PROD]), at(SHOP, LIVE, true), "the run's application [shop] is outside"],
    [scope([null, PROD]), outside(SHOP), "the run's stage without an environment is outside"],
    [scope([BANK, PROD], [BANK, NONPROD]), outside(SHOP), "the run's application [shop] is outside"],
    [
      scope([BANK, PROD]),
      at(SHOP, STAGE, false),
      "the run's application [shop] and environment [live] (not production) are outside",
    ],
    [
      scope([SHOP, PROD], [BANK, NONPROD]),
      at(SHOP, STAGE, false),
      "the run's environment [live] (not production) is outside",
    ],
  ];
  for (const [where, place, words] of cases) assert.equal(describeOutside(where, place), words);
});
