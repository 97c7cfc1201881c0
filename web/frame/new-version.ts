const MARK = "railhead.reloaded-at";
/** A second failure soon after a reload has another cause: reloading again would not end. */
const ONCE_MS = 60_000;

/**
 * After an upgrade of the server, an open page asks for files that do not exist any more. It reloads once, and gets the
 * new ones.
 */
export function reloadForNewVersion(): void {
  addEventListener("vite:preloadError", (event) => {
    const before = Number(sessionStorage.getItem(MARK) ?? 0);
    if (Date.now() - before < ONCE_MS) return;
    event.preventDefault();
    sessionStorage.setItem(MARK, String(Date.now()));
    location.reload();
  });
}
