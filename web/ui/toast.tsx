import { createContext, useCallback, useContext, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { classNames } from "../util/class-names.ts";
import { IconButton } from "./button.tsx";
import { Icon } from "./icon.tsx";
import styles from "./toast.module.css";
import tones from "./tone.module.css";

export type Toast = {
  readonly tone?: "success" | "failed" | "running";
  /** One sentence. */
  readonly message: string;
  readonly action?: { readonly label: string; readonly run: () => void };
};

type ShownToast = Toast & { readonly id: number };

const Context = createContext<((toast: Toast) => void) | undefined>(undefined);
const MAX_SHOWN = 4;
const SHOWN_MS = 6_000;
const ICONS = { success: "check-circle", failed: "error", running: "info" } as const;

/** Shows a message for some seconds. Failures stay until they are closed. */
export function useToast(): (toast: Toast) => void {
  const show = useContext(Context);
  if (!show) throw new Error("useToast needs a ToastProvider around it.");
  return show;
}

export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly ShownToast[]>([]);
  const nextId = useRef(0);
  const show = useCallback((toast: Toast): void => {
    nextId.current += 1;
    const shown = { ...toast, id: nextId.current };
    setToasts((current) => [...current, shown].slice(-MAX_SHOWN));
  }, []);
  const close = useCallback((id: number): void => {
    setToasts((current) => current.filter((toast) => toast.id !== id));
  }, []);
  return (
    <Context value={show}>
      {children}
      <ToastRegion toasts={toasts} close={close} />
    </Context>
  );
}

type RegionProps = { readonly toasts: readonly ShownToast[]; readonly close: (id: number) => void };

function ToastRegion({ toasts, close }: RegionProps) {
  const region = useRef<HTMLDivElement>(null);
  const newest = toasts.at(-1)?.id;
  // A popover that is shown anew stands above the dialogs that were opened since.
  useEffect(() => {
    const element = region.current;
    if (!element || newest === undefined) return;
    element.hidePopover();
    element.showPopover();
  }, [newest]);
  return (
    <div ref={region} popover="manual" className={styles.region} role="region" aria-label="Messages">
      <div role="status">
        {toasts.map((toast) => (
          <ToastItem key={toast.id} toast={toast} close={close} />
        ))}
      </div>
    </div>
  );
}

function ToastItem({ toast, close }: { readonly toast: ShownToast; readonly close: (id: number) => void }) {
  const { id, tone = "running", message, action } = toast;
  const [isHeld, setIsHeld] = useState(false);
  const isTimed = tone !== "failed" && !isHeld;
  useEffect(() => {
    if (!isTimed) return undefined;
    const timer = setTimeout(() => close(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isTimed, id, close]);
  const hold = useMemo(() => ({ on: () => setIsHeld(true), off: () => setIsHeld(false) }), []);
  return (
    <div
      className={classNames(styles.toast, tones[tone])}
      onMouseEnter={hold.on}
      onMouseLeave={hold.off}
      onFocus={hold.on}
      onBlur={hold.off}
    >
      <span className={styles.icon}>
        <Icon name={ICONS[tone]} />
      </span>
      <p className={styles.message}>{message}</p>
      {action && (
        <button
          type="button"
          className={styles.action}
          onClick={() => {
            action.run();
            close(id);
          }}
        >
          {action.label}
        </button>
      )}
      <IconButton icon="close" label="Close the message" size="small" onClick={() => close(id)} />
    </div>
  );
}
