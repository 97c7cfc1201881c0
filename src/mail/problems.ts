import { problemsOf } from "../core/problem.ts";

export const problems = {
  "mail.config_exists": [
    400,
    "DUPLICATE_FIELD",
    "The account already has an SMTP configuration, [%s]. Change it with PUT, or delete it.",
  ],
  "mail.no_config": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "SMTP configuration [%s] not found."],
  "mail.password_needed": [
    400,
    "INVALID_REQUEST",
    "Send the password, too: the stored one is used only with the host, port, username and security that it was stored with.",
  ],
  "mail.bad_address": [400, "INVALID_REQUEST", "[%s] is not an e-mail address."],
} as const;

export const problem = problemsOf(problems);
