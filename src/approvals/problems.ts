import { problemsOf } from "../core/problem.ts";

export const problems = {
  "approval.not_found": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "Approval with id [%s] not found."],
  "approval.bad_cursor": [400, "INVALID_REQUEST", "lastSeenApprovalId [%s] is no id of an approval."],
  "approval.no_organization": [400, "INVALID_REQUEST", "projectIdentifier [%s] needs an orgIdentifier."],
  "approval.no_callback": [
    404,
    "RESOURCE_NOT_FOUND_EXCEPTION",
    "Execution [%s] has no approval with the callbackId [%s] that waits.",
  ],
  "approval.several_callbacks": [
    400,
    "INVALID_REQUEST",
    "Execution [%s] has several approvals with the callbackId [%s] that wait. Act on one of them by its id.",
  ],
  "approval.not_waiting": [400, "INVALID_REQUEST", "Approval [%s] does not wait any more: its status is %s."],
  "approval.already_acted": [400, "INVALID_REQUEST", "You have already acted on approval [%s]."],
  "approval.not_approver": [403, "INVALID_REQUEST", "You are not an approver of approval [%s]. Approvers are %s."],
  "approval.own_execution": [
    403,
    "INVALID_REQUEST",
    "You started the execution of approval [%s], and its approvers do not include who started it.",
  ],
  "approval.disallowed": [403, "INVALID_REQUEST", "Approval [%s] does not allow [%s] to approve or reject."],
  "approval.long_comments": [400, "INVALID_REQUEST", "The comments have %s characters. At most %s are allowed."],
  "approval.unknown_input": [400, "INVALID_REQUEST", "Approval [%s] has no approver input '%s'."],
  "approval.input_twice": [400, "INVALID_REQUEST", "The approver input '%s' is given twice."],
  "approval.input_required": [400, "INVALID_REQUEST", "The approver input '%s' needs a value."],
  "approval.bad_input": [400, "INVALID_REQUEST", "The value of the approver input '%s' %s."],
  "approval.other_application": [
    404,
    "RESOURCE_NOT_FOUND_EXCEPTION",
    "Application [%s] has no execution [%s]: execution does not exist.",
  ],
} as const;

export const problem = problemsOf(problems);
