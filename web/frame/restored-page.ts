import { goToSignIn, resumeSession } from "../api/session.ts";

/**
 * Browsers keep pages that were left, and show them again as they were. A page that is shown again appears only if the
 * session goes on, so that it shows nothing of a user who has signed out.
 */
export function checkRestoredPage(root: HTMLElement): void {
  addEventListener("pagehide", ({ persisted }) => {
    if (persisted) root.hidden = true;
  });
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    resumeSession().then(() => {
      root.hidden = false;
    }, goToSignIn);
  });
}
