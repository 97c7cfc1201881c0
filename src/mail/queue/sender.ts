/**
 * Sends queued mails from all replicas. A claim gives a mail to one replica for a time; the mark `delivering` is
 * committed before the message is sent. A replica that dies before the mark leaves the mail to another one. After the
 * mark, the mail ends as unknown, since a second try could deliver it twice.
 */
import { setTimeout } from "node:timers/promises";
import type { Clock } from "../../core/clock.ts";
import type { NewId, Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import { claimMail, type ClaimedMail } from "../store/outgoing.ts";
import { TRY_MS } from "./send-mail.ts";

/** Tries at the same time in this process, and of them those of one account: a slow mail server delays only its own. */
const MAX_TRIES = 16;
const MAX_TRIES_OF_ACCOUNT = 4;
/** Longer than a try, with room for a process that is suspended for a while. */
const CLAIM_MS = TRY_MS + 180_000;
/** A stopping server has nine seconds for everything (src/main.ts). */
const STOP_MS = 5_000;

type Deps = {
  readonly db: Db;
  readonly clock: Pick<Clock, "now">;
  readonly newId: NewId;
  readonly send: (mail: ClaimedMail, stopping: AbortSignal) => Promise<void>;
  readonly onError: (error: unknown) => void;
};

export function createSender({ db, clock, newId, send, onError }: Deps) {
  const stopping = new AbortController();
  const running = new Map<Promise<void>, Uuid>();

  function busyAccounts(): readonly Uuid[] {
    const counts = Map.groupBy(running.values(), (accountId) => accountId);
    return [...counts].filter(([, tries]) => tries.length >= MAX_TRIES_OF_ACCOUNT).map(([accountId]) => accountId);
  }

  function start(mail: ClaimedMail): void {
    const work = send(mail, stopping.signal)
      .catch(onError)
      .finally(() => {
        running.delete(work);
        // Its place is free for a mail that waits.
        wake();
      });
    running.set(work, mail.accountId);
  }

  async function claimAll(): Promise<void> {
    while (running.size < MAX_TRIES && !stopping.signal.aborted) {
      const now = clock.now();
      const claim = { now, until: now + CLAIM_MS, claimId: newId(), except: busyAccounts() };
      const mail = await claimMail(db, claim);
      if (!mail) return;
      start(mail);
    }
  }

  let claiming: Promise<void> | undefined;
  let isWanted = false;

  async function claimWhileWanted(): Promise<void> {
    while (isWanted) {
      isWanted = false;
      await claimAll();
    }
  }

  /** Starts to send due mails, as many as there are places for. Run about once a second, and after each commit. */
  async function sendDue(): Promise<void> {
    isWanted = true;
    claiming ??= claimWhileWanted().finally(() => (claiming = undefined));
    await claiming;
  }

  function wake(): void {
    if (!stopping.signal.aborted) sendDue().catch(onError);
  }

  /** Resolves when no try is under way; for tests. */
  async function idle(): Promise<void> {
    while (running.size > 0 || claiming) await Promise.all([claiming, ...running.keys()]);
  }

  /**
   * Gives back mails of which nothing was sent, and waits for the others as long as a stopping server has time. Those
   * that end later are claimed by another replica and end as unknown.
   */
  async function stop(): Promise<void> {
    stopping.abort();
    const over = new AbortController();
    const timeout = setTimeout(STOP_MS, undefined, { signal: over.signal, ref: false }).catch(() => {});
    await Promise.race([idle(), timeout]);
    over.abort();
  }

  return { sendDue, wake, idle, stop };
}
