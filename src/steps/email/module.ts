import { stepModule } from "../step-module.ts";
import { type EmailTemplate, run } from "./run.ts";
import { email as schema, type EmailSpec, listOf } from "./schema.ts";
import { shown, valueFields } from "./value-fields.ts";

/** Sends a mail by the account's mail server; needs no delegate. */
export const email = stepModule<EmailSpec>({
  type: "Email",
  description: "Sends a mail by the mail server of the account.",
  snippet: {
    name: "Tell the team",
    spec: {
      to: ["team@example.com"],
      subject: "<+pipeline.name> has run",
      body: "Run <+pipeline.sequenceId> is done.",
    },
  },
  schema,
  valueFields,
  shown,
  delegateSelectors: () => undefined,
  plan: (spec, { home }): EmailTemplate => ({
    kind: "email",
    to: listOf(spec.to),
    cc: listOf(spec.cc),
    toUserGroups: spec.toUserGroups ?? [],
    ccUserGroups: spec.ccUserGroups ?? [],
    subject: spec.subject,
    body: spec.body ?? "",
    fireAndForget: spec.fireAndForget ?? false,
    place: { orgIdentifier: home.orgIdentifier, projectIdentifier: home.projectIdentifier },
  }),
  run,
});
