import { z } from "zod";
import { referred } from "../../core/reference.ts";
import { choice, type Phase, text } from "../schema/fields.ts";
import { isMarker } from "../schema/marker.ts";
import { approverInputs } from "./approver-input.ts";
import { isTime, isTimeZone, TIME_FORM } from "./deadline.ts";

/** Names of one list of approvers. */
const MAX_NAMES = 100;
const MAX_COUNT = 100;
const MAX_TEXT = 16_384;

/** Any place stands for the one that a plain reference leads to. */
const ANYWHERE = { orgIdentifier: "o", projectIdentifier: "p" };

const isOpen = (value: unknown): boolean => typeof value === "string" && value.includes("<+");

const reference = (phase: Phase) =>
  text(phase).refine((value) => isOpen(value) || referred(value, ANYWHERE) !== undefined, {
    error: "A reference is written like account.name, org.name or name",
  });

/** The members of these groups depend on roles, which are not read for one group. */
const ROLE_GROUPS = /^(?:org\.)?_(?:organization|project)_all_users$/;

const group = (phase: Phase) =>
  reference(phase).refine((value) => !ROLE_GROUPS.test(value), {
    error: "This built-in group cannot approve: name another user group, or account._account_all_users",
  });

const count = (phase: Phase) =>
  z.union([z.number(), text(phase)]).refine((value) => (phase === "saved" && isMarker(value)) || isCount(value), {
    error: `Expected a whole number from 1 to ${MAX_COUNT}`,
  });

function isCount(value: number | string): boolean {
  const number = typeof value === "string" && /^\d{1,3}$/.test(value) ? Number(value) : value;
  return Number.isInteger(number) && Number(number) >= 1 && Number(number) <= MAX_COUNT;
}

const approvers = (phase: Phase) =>
  z
    .strictObject({
      minimumCount: count(phase).describe("How many have to approve"),
      disallowPipelineExecutor: z.boolean().describe("Who started the execution may not approve or reject"),
      userGroups: z.array(group(phase)).max(MAX_NAMES).nullish().describe("Groups whose members may approve"),
      serviceAccounts: z.array(reference(phase)).max(MAX_NAMES).nullish().describe("Service accounts that may approve"),
      disallowedUserEmails: z
        .array(text(phase).min(1).max(320))
        .max(MAX_NAMES)
        .nullish()
        .describe("Who may not approve or reject, by e-mail address"),
    })
    .refine(({ userGroups, serviceAccounts }) => [...(userGroups ?? []), ...(serviceAccounts ?? [])].length > 0, {
      error: "Expected at least one of userGroups and serviceAccounts",
    });

const written = (phase: Phase, isRight: (value: string) => boolean, error: string) =>
  text(phase).refine((value) => (phase === "saved" && isMarker(value)) || isRight(value), { error });

const autoApproval = (phase: Phase) =>
  z.strictObject({
    action: choice("Action", ["APPROVE"], () => false).describe("What happens at the deadline"),
    scheduledDeadline: z
      .strictObject({
        time: written(phase, isTime, TIME_FORM).describe("As in `2026-07-03 10:08 AM`"),
        timeZone: written(phase, isTimeZone, "A time zone is written like Europe/Berlin or UTC").describe(
          "As in `Europe/Berlin`",
        ),
      })
      .describe("When it is approved without a person"),
    comments: text(phase).max(MAX_TEXT).nullish().describe("The comments of the approval"),
  });

const autoReject = z
  .boolean()
  .nullish()
  .refine((value) => value !== true, { error: "isAutoRejectEnabled: true is not supported" })
  .describe("Only `false`");

const form = (phase: Phase) =>
  z.strictObject({
    approvalMessage: text(phase).max(MAX_TEXT).nullish().describe("Shown to approvers; may hold expressions"),
    includePipelineExecutionHistory: z.boolean().describe("Whether approvers are shown what has run before"),
    approvers: approvers(phase).describe("Who may approve or reject"),
    approverInputs: approverInputs(phase).nullish().describe("Values that approvers enter"),
    isAutoRejectEnabled: autoReject,
    autoApproval: autoApproval(phase).nullish().describe("Approves at a time"),
    callbackId: text(phase).min(1).max(256).nullish().describe("Names the approval for programs that decide it"),
  });

export const platformApproval = (phase: Phase) =>
  form(phase).superRefine(({ autoApproval: scheduled, approverInputs: inputs }, context) => {
    if (!scheduled) return;
    for (const [index, { name, required, defaultValue }] of (inputs ?? []).entries()) {
      if (required !== true || String(defaultValue ?? "") !== "") continue;
      const message = `The required input '${name}' needs a defaultValue, because autoApproval enters none`;
      context.addIssue({ code: "custom", path: ["approverInputs", index], message });
    }
  });

export type PlatformApprovalSpec = z.output<ReturnType<typeof platformApproval>>;
