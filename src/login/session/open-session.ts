import type { RequestFacts } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import type { NewId, Uuid } from "../../core/ids.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { PersonKey } from "../people.ts";
import { hashOf, newSessionSecret, type Lifetimes, type SessionSecret, type SignInMethod } from "./session.ts";
import { insertSession } from "../store/sessions.ts";

/** What is known of the browser that signs in. */
export type Visitor = { readonly facts: RequestFacts; readonly userAgent: string | undefined };

export type OpenedSession = SessionSecret & { readonly userId: Uuid; readonly expiresAt: number };

type SessionToOpen = PersonKey & { readonly method: SignInMethod; readonly visitor: Visitor };

const LONGEST_AGENT = 200;

/**
 * Opens a new session and ignores the browser's cookie, so that an attacker cannot choose the session (session
 * fixation).
 */
export async function openSession(
  tx: Tx,
  deps: { readonly clock: Clock; readonly newId: NewId; readonly lifetimes: Lifetimes },
  { accountId, userId, method, visitor }: SessionToOpen,
): Promise<OpenedSession> {
  const { facts, userAgent = "" } = visitor;
  const createdAt = deps.clock.now();
  const opened = {
    accountId,
    id: deps.newId(),
    secret: newSessionSecret(),
    userId,
    expiresAt: createdAt + deps.lifetimes.mostMs,
  };
  await insertSession(tx, {
    accountId,
    id: opened.id,
    userId,
    secretHash: hashOf(opened.secret),
    method,
    remoteAddress: facts.remoteAddress,
    // Control characters would disturb the list of sessions.
    userAgent: userAgent.replace(/\p{C}/gu, "").slice(0, LONGEST_AGENT).toWellFormed(),
    createdAt,
    expiresAt: opened.expiresAt,
  });
  return opened;
}
