import { problemsOf } from "../core/problem.ts";

export const problems = {
  "trigger.duplicate": [400, "DUPLICATE_FIELD", "A trigger with identifier [%s] already exists for pipeline [%s]."],
  "trigger.not_found": [
    404,
    "RESOURCE_NOT_FOUND_EXCEPTION",
    "Trigger with identifier [%s] not found for pipeline [%s].",
  ],
  "trigger.other_identifier": [
    400,
    "INVALID_REQUEST",
    "The identifier in the document [%s] is not the one in the address [%s].",
  ],
  "trigger.other_scope": [400, "INVALID_REQUEST", "%s in the trigger [%s] is not the one in the query [%s]."],
  "trigger.no_pipeline": [404, "ENTITY_NOT_FOUND", "The pipeline [%s] of the trigger was deleted."],
  // A wrong token and a token of another account get the same answer.
  "trigger.no_webhook": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "No webhook at this address."],
  "trigger.no_delivery": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "No event with id [%s]."],
  "trigger.disabled": [402, "INVALID_REQUEST", "Trigger [%s] is disabled. Enable it to replay its events."],
  "trigger.not_stored": [
    402,
    "INVALID_REQUEST",
    "The body of event [%s] was not stored, as its trigger was disabled or deleted then. It cannot be replayed.",
  ],
  "trigger.too_many_waiting": [
    429,
    "TOO_MANY_REQUESTS",
    "The event was not stored: %s to be processed, which is the limit. Send it again later.",
  ],
  "trigger.too_many_calls": [
    429,
    "TOO_MANY_REQUESTS",
    "The event was not stored: %s calls of this address are being answered, which is the limit. Send it again later.",
  ],
  "trigger.too_many_disabled": [
    429,
    "TOO_MANY_REQUESTS",
    "The event was not stored: its trigger is disabled and got %s events within a minute, which is the limit.",
  ],
  "ownership.no_principal": [
    404,
    "RESOURCE_NOT_FOUND_EXCEPTION",
    "No person or service account has the identifier [%s].",
  ],
  "trigger.changed_meanwhile": [
    402,
    "OPTIMISTIC_LOCKING_EXCEPTION",
    "Trigger [%s] was changed while it was being adopted. Look at it and adopt it again.",
  ],
  "ownership.duplicate": [400, "INVALID_REQUEST", "%s is named twice. Name each resource once."],
  "trigger.not_permitted": [403, "NG_ACCESS_DENIED", "The API key may not run the pipeline of this trigger."],
} as const;

export const problem = problemsOf(problems);
