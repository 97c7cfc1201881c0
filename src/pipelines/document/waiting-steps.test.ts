/** What saving takes and refuses of steps that wait on the server. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf, STEP_SPEC, withStep } from "./sample.ts";

const approval = (approvers: string, ...more: readonly string[]): string =>
  withStep("PlatformApproval", ["includePipelineExecutionHistory: true", `approvers: {${approvers}}`, ...more]);

const COUNT = "minimumCount: 1, disallowPipelineExecutor: true";
const TEAM = `${COUNT}, userGroups: [team]`;
const input = (fields: string): string => approval(TEAM, `approverInputs: [{name: a, ${fields}}]`);
const scheduled = (fields: string): string => approval(TEAM, `autoApproval: {action: APPROVE, ${fields}}`);

const TAKEN: readonly string[] = [
  withStep("Wait", ["duration: 1h 30m"]),
  withStep("Wait", ["duration: <+input>.default(10m)"]),
  withStep("Wait", ["duration: <+pipeline.name>m"]),
  withStep("Queue", ["key: prod", "scope: Stage"]),
  withStep("Queue", [`key: ${"k".repeat(256)}`, "scope: Pipeline"]),
  withStep("Queue", ["key: <+pipeline.name>/<+infra.namespace>", "scope: Pipeline"]),
  withStep("Queue", ["key: <+input>.default(prod)", "scope: Pipeline"]),
  approval(TEAM),
  approval(`minimumCount: <+input>, disallowPipelineExecutor: false, userGroups: [org.team, account.team, "<+input>"]`),
  approval(`${COUNT}, serviceAccounts: [account.bot], disallowedUserEmails: [<+pipeline.triggeredBy.email>]`),
  approval(TEAM, "isAutoRejectEnabled: false", "callbackId: release-<+pipeline.sequenceId>", "approvalMessage: ''"),
  input("required: true"),
  input("defaultValue: 3, allowedValues: [1, 2, 3]"),
  input("defaultValue: 'a, b', selectManyFrom: [a, b]"),
  input("defaultValue: <+pipeline.name>, regex: '[a-z]+'"),
  scheduled("scheduledDeadline: {time: 2026-07-03 10:08 AM, timeZone: Europe/Berlin}, comments: <+pipeline.name>"),
  scheduled("scheduledDeadline: {time: <+input>, timeZone: <+input>.default(UTC)}"),
];

for (const text of TAKEN)
  test(`taken: ${text.split("\n").slice(29, 34).join(" ").replaceAll(/ +/g, " ").slice(0, 140)}`, () =>
    assert.deepEqual(faultsOf(text), []));

const REFUSED: readonly (readonly [text: string, path: string, message: RegExp])[] = [
  [withStep("Wait", ["duration: 5s"]), "duration", /^A duration is written like 10m/],
  [withStep("Wait", ["duration: 54w"]), "duration", /at most 53w/],
  [withStep("Wait", ["duration: 10m", "until: x"]), "until", /until/],
  [withStep("Wait", ["duration: <+nonsense.x>"]), "duration", /nonsense/],
  [withStep("Wait", ['duration: <+secrets.getValue("account.x")>']), "duration", /a secret stands alone/],
  [withStep("Queue", ["key: ''", "scope: Stage"]), "key", /The key of a lock is not empty/],
  [withStep("Queue", [`key: ${"k".repeat(257)}`, "scope: Stage"]), "key", /at most 256 characters, not 257/],
  [withStep("Queue", ["key: a", "scope: Account"]), "scope", /Allowed: Pipeline, Stage/],
  [withStep("Queue", ["key: a"]), "scope", /./],
  [withStep("Queue", ["scope: Stage"]), "key", /./],
  [withStep("Queue", ["key: a", "scope: Stage", "timeoutMs: 1"]), "timeoutMs", /timeoutMs/],
  [withStep("Queue", ["key: <+nonsense.x>", "scope: Stage"]), "key", /nonsense/],
  [withStep("Queue", ['key: <+secrets.getValue("account.x")>', "scope: Stage"]), "key", /a secret stands alone/],
  [approval(COUNT), "approvers", /at least one of userGroups and serviceAccounts/],
  [approval(`${COUNT}, userGroups: []`), "approvers", /at least one of userGroups and serviceAccounts/],
  [approval(`${COUNT}, userGroups: [a b]`), "approvers.userGroups[0]", /A reference is written like/],
  [approval(`${COUNT}, userGroups: [_project_all_users]`), "approvers.userGroups[0]", /built-in group cannot approve/],
  [approval("minimumCount: 0, disallowPipelineExecutor: true, userGroups: [a]"), "approvers.minimumCount", /from 1 to/],
  [approval("minimumCount: 1, userGroups: [a]"), "approvers.disallowPipelineExecutor", /./],
  [approval(TEAM, "isAutoRejectEnabled: true"), "isAutoRejectEnabled", /true is not supported/],
  [approval(TEAM, "approvalMessage: <+steps.x.output.y.z>", "nothing: 1"), "nothing", /nothing/],
  [approval(TEAM, 'approvalMessage: <+secrets.getValue("account.x")>'), "approvalMessage", /a secret stands alone/],
  [input("allowedValues: [a], regex: a"), "approverInputs[0].regex", /at most one of/],
  [input("regex: '(?=a)'"), "approverInputs[0].regex", /pattern cannot be used/],
  [input("defaultValue: c, allowedValues: [a, b]"), "approverInputs[0].defaultValue", /default is not one of a, b/],
  [input("defaultValue: 'a,c', selectManyFrom: [a, b]"), "approverInputs[0].defaultValue", /has 'c'/],
  [input("allowedValues: [<+pipeline.name>]"), "approverInputs[0].allowedValues[0]", /Expressions in the values/],
  [approval(TEAM, "approverInputs: [{name: a}, {name: a}]"), "approverInputs[1].name", /given twice/],
  [scheduled("scheduledDeadline: {time: tomorrow, timeZone: UTC}"), "autoApproval.scheduledDeadline.time", /A time is/],
  [
    scheduled("scheduledDeadline: {time: 2026-07-03 10:08 AM, timeZone: Mars}"),
    "autoApproval.scheduledDeadline.timeZone",
    /A time zone is written like/,
  ],
  [
    approval(
      TEAM,
      "approverInputs: [{name: a, required: true}]",
      "autoApproval: {action: APPROVE, scheduledDeadline: {time: 2026-07-03 10:08 AM, timeZone: UTC}}",
    ),
    "approverInputs[0]",
    /needs a defaultValue/,
  ],
];

for (const [text, path, message] of REFUSED)
  test(`refused: ${path}: ${message.source.slice(0, 60)}`, () => {
    const faults = faultsOf(text);
    assert.equal(faults.length, 1, JSON.stringify(faults));
    const [fault] = faults;
    assert.equal(fault?.path.startsWith(`${STEP_SPEC}.${path}`), true, fault?.path ?? "");
    assert.match(fault?.message ?? "", message);
    const [line = 0] = (fault?.at ?? "").split(":").map(Number);
    assert.ok(line > 29 && line < 45, fault?.at);
  });
