import type { Clock } from "../../core/clock.ts";
import type { NewId } from "../../core/ids.ts";
import type { Tx } from "../../platform/db/db.ts";
import { deleteMail, insertMail } from "../store/outgoing.ts";
import { findMailFault, type MailRef, type NewMail } from "./mail.ts";

type Deps = {
  readonly clock: Pick<Clock, "now">;
  readonly newId: NewId;
  /** Sends due mails at once. */
  readonly wake: () => void;
};

/**
 * Queues a mail in the caller's transaction; it is sent after the commit. An invalid mail is queued without its text and
 * recipients, and ends as failed, so that every mail ends the same way.
 */
export const enqueueMail =
  ({ clock, newId, wake }: Deps) =>
  async (tx: Tx, mail: NewMail): Promise<void> => {
    const fault = findMailFault(mail) ?? null;
    const content = fault === null ? {} : { to: [], cc: [], toUserGroups: [], ccUserGroups: [], subject: "", body: "" };
    await insertMail(tx, mail.accountId, { ...mail, ...content, id: newId(), fault, createdAt: clock.now() });
    tx.afterCommit(wake);
  };

/**
 * Cancels the mail that a step waits for. `cancelled`: it is not sent. `delivering`: the mail server is getting it, so it may be
 * delivered. `ended`: it was reported before. Its end is not reported after this.
 */
export async function cancelMail(tx: Tx, ref: MailRef): Promise<"cancelled" | "delivering" | "ended"> {
  const deleted = await deleteMail(tx, ref.accountId, ref);
  if (!deleted) return "ended";
  return deleted.delivering ? "delivering" : "cancelled";
}
