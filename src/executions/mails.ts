/** Mails of Email steps: queued with the state of their execution, which gets their end. */
import type { Mail, OnMailEnded } from "../mail/index.ts";
import type { MailAnswer, MailRequest } from "../steps/email/request.ts";
import type { AnswerService } from "./advancing/perform.ts";
import type { LockToAnswer } from "./answers.ts";

/** Each effect is one statement, sent at once. */
export const createMailService = ({ enqueue, cancel, cancelAll }: Pick<Mail, "enqueue" | "cancel" | "cancelAll">) =>
  ({
    send: async (tx, node, request) => {
      const { place, ...mail } = request as unknown as MailRequest;
      await enqueue(tx, { ...mail, ...place, ...node });
      return mail.fireAndForget ? { answer: { kind: "queued" } satisfies MailAnswer } : undefined;
    },
    withdraw: async (tx, node) => void (await cancel(tx, node)),
    withdrawAll: (tx, { accountId, executionId }) => cancelAll(tx, accountId, executionId),
  }) satisfies AnswerService;

/** The mail leaves the queue in the transaction that gives its end to the step, so that the step gets it once. */
export const reportMailEnd =
  (lockToAnswer: LockToAnswer): OnMailEnded =>
  ({ accountId, executionId, nodeId }, outcome, take) =>
    lockToAnswer({ accountId, id: executionId }, async (tx, execution) => {
      if (await take(tx)) await execution?.answer(nodeId, outcome satisfies MailAnswer);
    });
