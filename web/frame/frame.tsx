import { Outlet, useLocation } from "@tanstack/react-router";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { onSessionChange, sessionState } from "../api/session.ts";
import { IconButton } from "../ui/button.tsx";
import { ToastProvider } from "../ui/toast.tsx";
import { CommandPalette, usePaletteKey } from "./command-palette.tsx";
import { SessionExpired } from "./session-expired.tsx";
import { Sidebar } from "./sidebar.tsx";
import styles from "./frame.module.css";

/** What surrounds every page: navigation, palette, notices, and the dialog of an expired session. */
export function Frame() {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const state = useSyncExternalStore(onSessionChange, sessionState);
  const main = useFocusAfterNavigation(() => setMenuOpen(false));
  usePaletteKey(() => setPaletteOpen(true));
  return (
    <ToastProvider>
      <div className={styles.frame}>
        <a className={styles.skip} href="#main">
          Skip to content
        </a>
        <header className={styles.bar}>
          <IconButton
            icon="menu"
            label={isMenuOpen ? "Close navigation" : "Open navigation"}
            aria-expanded={isMenuOpen}
            onClick={() => setMenuOpen(!isMenuOpen)}
          />
          <span className={styles.brand}>Railhead</span>
          <IconButton
            icon="search"
            label="Search pages, pipelines and executions"
            onClick={() => setPaletteOpen(true)}
          />
        </header>
        <div className={styles.side} data-open={isMenuOpen}>
          <Sidebar onSearch={() => setPaletteOpen(true)} />
        </div>
        <main className={styles.main} id="main" ref={main} tabIndex={-1}>
          <Outlet />
        </main>
        <CommandPalette open={isPaletteOpen} onClose={() => setPaletteOpen(false)} />
        {state.kind === "expired" && <SessionExpired session={state.session} />}
      </div>
    </ToastProvider>
  );
}

/** Moves the focus to the page when its address changes, as a browser does for a new document. */
function useFocusAfterNavigation(onNavigated: () => void) {
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const previous = useRef(pathname);
  const callback = useRef(onNavigated);
  callback.current = onNavigated;
  useEffect(() => {
    if (previous.current === pathname) return;
    previous.current = pathname;
    callback.current();
    // A dialog or a field that took the focus meanwhile keeps it.
    if (document.activeElement === null || !main.current?.contains(document.activeElement))
      main.current?.focus({ preventScroll: true });
  }, [pathname]);
  return main;
}
