import {
  evaluateTemplate,
  type FailureType,
  type Json,
  newBudget,
  type StepEnd,
  type StepType,
} from "../../engine/index.ts";
import type { MailAnswer, MailRequest } from "./request.ts";
import { addressesIn } from "./schema.ts";

/** The work of an Email step: its request before expressions are resolved. The deadline follows from its timeout. */
export type EmailTemplate = Omit<MailRequest, "deadlineAt"> & { readonly kind: "email" };

/** Puts the mail into the queue, and ends with its end. */
export const run: StepType = {
  begin({ step, at, scope }) {
    const { kind: _, ...template } = step.work as unknown as EmailTemplate;
    const [outside, budget] = [scope(), newBudget()];
    const fill = (text: string): string => evaluateTemplate(text, outside, budget);
    const request: MailRequest = {
      ...template,
      to: template.to.map(fill).flatMap(addressesIn),
      cc: template.cc.map(fill).flatMap(addressesIn),
      toUserGroups: template.toUserGroups.map(fill),
      ccUserGroups: template.ccUserGroups.map(fill),
      subject: fill(template.subject),
      body: fill(template.body),
      deadlineAt: at + step.timeoutMs,
    };
    return {
      kind: "wait",
      reason: { kind: "mail", message: "Waits until the mail server has accepted the mail." },
      request: { service: "mail", request: request as Json },
    };
  },
  receive({ name }, signal) {
    if (signal.kind !== "answered") return failed(name, "no mail server answered", "Unknown");
    const answer = signal.answer as MailAnswer;
    switch (answer.kind) {
      case "queued":
      case "sent":
        return { kind: "end", status: "succeeded" };
      case "failed":
        return failed(name, answer.message, "ApplicationError");
      case "unknown":
        return failed(name, answer.message, "Unknown");
    }
  },
};

const failed = (name: string, why: string, type: FailureType): StepEnd => ({
  kind: "end",
  status: "failed",
  failure: { message: `Step '${name}' failed: ${why}`, types: [type] },
});
