import { problemsOf } from "../core/problem.ts";

export const problems = {
  // 403: a step that is refused its secrets fails with the type Authorization.
  "execution.pipeline_deleted": [403, "NG_ACCESS_DENIED", "Pipeline '%s' was deleted after the execution started."],
  "execution.trigger_deleted": [403, "NG_ACCESS_DENIED", "Trigger '%s' was deleted after it started the execution."],
  "execution.secret_output_deleted": [
    409,
    "INVALID_REQUEST",
    "Secret output '%s' was deleted with the execution that it is from. Run the execution again.",
  ],
  "execution.secrets_changed": [
    409,
    "INVALID_REQUEST",
    "The secrets of the step were replaced while they were opened. Run the execution again.",
  ],
  "execution.reference_deleted": [403, "NG_ACCESS_DENIED", "The %s '%s' was deleted after the execution started."],
  "execution.unknown_owner": [
    403,
    "NG_ACCESS_DENIED",
    "Execution [%s] was started by a trigger before owners of triggers were stored. Start it by a call of the webhook.",
  ],
  "execution.not_found": [
    404,
    "RESOURCE_NOT_FOUND_EXCEPTION",
    "Plan execution with id [%s]: execution does not exist.",
  ],
  "execution.too_many_stages": [
    400,
    "INVALID_REQUEST",
    "The stages of these executions have more than 32 MiB together. Ask for fewer executions at once.",
  ],
  "execution.no_node": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "No execution has a node [%s]."],
  "execution.node_not_found": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "Execution [%s] has no node [%s]."],
  "execution.no_inputs": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "Node [%s] asks for no inputs."],
  "execution.inputs_not_awaited": [400, "INVALID_REQUEST", "Node [%s] does not wait for inputs: %s."],
  "execution.inputs_too_large": [400, "INVALID_REQUEST", "There is no room for these inputs of node [%s]: %s."],
  "execution.no_attempt": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "Node [%s] has no attempt %s."],
  // 503: the end of a task is sent again, perhaps to another server.
  "execution.newer_format": [
    503,
    "UNEXPECTED",
    "Execution [%s] is run by a newer version of the server. Upgrade this server.",
  ],
  "execution.log_deleted": [
    404,
    "RESOURCE_NOT_FOUND_EXCEPTION",
    "The log of execution [%s] was deleted on %s, as the account's setting log_retention_days says.",
  ],
  "execution.interrupt_unsupported": [400, "INVALID_REQUEST", "interruptType '%s' is not supported; supported: %s."],
  "execution.interrupt_target": [400, "INVALID_REQUEST", "Interrupt %s applies to %s."],
  "execution.interrupt_refused": [402, "ENGINE_INTERRUPT_PROCESSING_EXCEPTION", "Interrupt %s does not apply: %s."],
  "execution.already_ended": [
    402,
    "ENGINE_INTERRUPT_PROCESSING_EXCEPTION",
    "Execution [%s] has ended with status %s; there is nothing to interrupt.",
  ],
  "execution.abort_again": [402, "ABORT_ALL_ALREADY", "Execution [%s] is being aborted already."],
  "execution.unsupported": [400, "UNSUPPORTED_OPERATION_EXCEPTION", "%s is not supported yet."],
  "execution.retry_refused": [402, "RETRY_FAILED", "Execution [%s] cannot be retried: %s."],
  "execution.bad_retry": [400, "INVALID_REQUEST", "Execution [%s] cannot be retried like this: %s."],
  "execution.not_of_pipeline": [
    404,
    "RESOURCE_NOT_FOUND_EXCEPTION",
    "Plan execution with id [%s]: execution does not exist in pipeline [%s].",
  ],
  "execution.no_pipeline": [404, "NON_EXISTING_PIPELINE", "Pipeline [%s] does not exist in application [%s]."],
  "execution.bad_idempotency_key": [
    400,
    "INVALID_REQUEST",
    "The header Idempotency-Key takes 1 to 255 printable ASCII characters.",
  ],
  "execution.idempotency_key_reused": [
    422,
    "INVALID_REQUEST",
    "Idempotency-Key '%s' was used for another request within 24 hours. Send a new request with a new key.",
  ],
  "execution.bad_start": [400, "INVALID_REQUEST", "The execution cannot be started: %s."],
  "execution.bad_cursor": [
    400,
    "INVALID_REQUEST",
    "lastSeenExecutionId and lastSeenStartTime go together, as the page before gave them.",
  ],
  "execution.cursor_and_page": [
    400,
    "INVALID_REQUEST",
    "A page after lastSeenExecutionId has no number. Leave out page.",
  ],
  "execution.bad_deployment_cursor": [
    400,
    "INVALID_REQUEST",
    "lastSeenDeploymentId and lastSeenStartTime go together, as the page before gave them.",
  ],
  "execution.bad_target_cursor": [
    400,
    "INVALID_REQUEST",
    "lastSeenEnvironment and lastSeenService go together, as the page before gave them.",
  ],
  "execution.no_target": [400, "INVALID_REQUEST", "Send an environmentIdentifier, a serviceIdentifier, or both."],
  "execution.bad_range": [400, "INVALID_REQUEST", "The range of time cannot be used: %s."],
  "execution.filter_unsupported": [400, "INVALID_REQUEST", "The filter %s is not supported yet."],
  "execution.bad_filter": [400, "INVALID_REQUEST", "The filter cannot be applied: %s."],
  "execution.no_log": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "The prefix names no log: the execution does not exist."],
  "execution.bad_log_prefix": [
    400,
    "INVALID_REQUEST",
    "The prefix [%s] names no log. Send {account}/pipeline/{pipeline}/{runSequence}/-{planExecutionId}.",
  ],
  "execution.bad_offset": [400, "INVALID_REQUEST", "%s"],
  "execution.bad_position": [400, "INVALID_REQUEST", "Last-Event-ID is not the id of an event of this stream."],
  "execution.too_many_followed": [
    503,
    "UNEXPECTED",
    "The event streams of this server, or those of the account, follow too many nodes of executions. Try again later.",
  ],
} as const;

export const problem = problemsOf(problems);
