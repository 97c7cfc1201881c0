import { ApiError, errorOf } from "./api-error.ts";
import type { SessionData } from "./operations.gen.ts";

/**
 * The session of the signed-in user. The cookie is invisible to scripts; requests also need the token against forged
 * requests (docs/api/login.md#the-session).
 */
export type Session = SessionData;

type State =
  | { readonly kind: "unknown" }
  | { readonly kind: "signedIn"; readonly session: Session }
  /** The session has ended while the page is open: it keeps what was typed, and asks to sign in again. */
  | { readonly kind: "expired"; readonly session: Session };

let state: State = { kind: "unknown" };
const listeners = new Set<() => void>();

export const sessionState = (): State => state;

/** Calls `listener` after each change. Returns the function that ends it. */
export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function setState(next: State): void {
  state = next;
  for (const listener of listeners) listener();
}

/** Reads the session at the start. Undefined without one, or if a password must be chosen first. */
export async function loadSession(): Promise<Session | undefined> {
  const answer = await fetch("/auth/session", { headers: { accept: "application/json" } });
  if (!answer.ok) throw await errorOf(answer);
  const { data } = (await answer.json()) as { readonly data: Session | { readonly signedIn: false } };
  if (!data.signedIn || data.mustChangePassword) return undefined;
  setState({ kind: "signedIn", session: data });
  return data;
}

/** Throws before `loadSession` has found a session. */
export function currentSession(): Session {
  if (state.kind === "unknown") throw new Error("The session was not loaded.");
  return state.session;
}

/**
 * Marks the session as ended, so that the frame asks to sign in again, and resolves when that has happened. Rejects when
 * `signal` aborts.
 */
export function waitForSignIn(signal?: AbortSignal): Promise<void> {
  if (state.kind === "signedIn") setState({ kind: "expired", session: state.session });
  return new Promise((resolve, reject) => {
    const stop = onSessionChange(() => {
      if (state.kind !== "signedIn") return;
      stop();
      resolve();
    });
    signal?.addEventListener("abort", () => {
      stop();
      reject(signal.reason as Error);
    });
  });
}

/** Signs in again after the session has expired. Throws ApiError; also if another user signs in. */
export async function signInAgain(email: string, password: string): Promise<void> {
  const answer = await fetch("/auth/login", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ email, password }),
  });
  if (!answer.ok) throw await errorOf(answer);
  await resumeSession();
}

/** Continues with the session that was begun in another tab, or by `signInAgain`. */
export async function resumeSession(): Promise<void> {
  const before = currentSession();
  const session = await loadSession();
  if (session === undefined)
    throw new ApiError({ status: 401, code: "NOT_SIGNED_IN", message: "You are not signed in yet." });
  // What the page shows belongs to the former user.
  if (session.user.id !== before.user.id) location.reload();
}

/** Leaves for the sign-in page, which returns here. */
export function goToSignIn(): void {
  const target = `${location.pathname}${location.search}${location.hash}`;
  location.assign(`/login?returnTo=${encodeURIComponent(target)}`);
}
