import { useRef, useState, type KeyboardEvent, type PointerEvent, type ReactNode } from "react";
import styles from "./split-layout.module.css";

type SplitLayoutProps = {
  /** What the separator resizes: Width of the editor */
  readonly label: string;
  /** Keeps the width for the next visit. */
  readonly storageKey?: string | undefined;
  /** Percent of the width that the first part has at the beginning. */
  readonly initial?: number | undefined;
  readonly first: ReactNode;
  readonly second: ReactNode;
};

const LEAST = 20;
const MOST = 80;
const STEP = 2;
const clamp = (percent: number): number => Math.min(MOST, Math.max(LEAST, Math.round(percent)));

/** Two parts beside each other with a separator that can be moved; below each other where it has less than 800 pixels. */
export function SplitLayout({ label, storageKey, initial = 50, first, second }: SplitLayoutProps) {
  const [share, setShare] = useState(() => storedShare(storageKey) ?? clamp(initial));
  const layout = useRef<HTMLDivElement>(null);
  const change = (percent: number): void => {
    const next = clamp(percent);
    setShare(next);
    if (storageKey !== undefined) storeShare(storageKey, next);
  };
  const onPointerMove = (event: PointerEvent<HTMLDivElement>): void => {
    const box = layout.current?.getBoundingClientRect();
    if (!box || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    change(((event.clientX - box.left) / box.width) * 100);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = { ArrowLeft: share - STEP, ArrowRight: share + STEP, Home: LEAST, End: MOST }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    change(next);
  };
  return (
    <div className={styles.container}>
      <div ref={layout} className={styles.layout} style={{ "--first": `${share}%` }}>
        <div className={styles.part}>{first}</div>
        <div
          className={styles.separator}
          role="separator"
          aria-orientation="vertical"
          aria-label={label}
          aria-valuenow={share}
          aria-valuemin={LEAST}
          aria-valuemax={MOST}
          tabIndex={0}
          onKeyDown={onKeyDown}
          onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
          onPointerMove={onPointerMove}
        />
        <div className={styles.part}>{second}</div>
      </div>
    </div>
  );
}

/** Browsers may forbid storage. */
function storedShare(key: string | undefined): number | undefined {
  if (key === undefined) return undefined;
  try {
    const value = Number(localStorage.getItem(`split:${key}`) ?? Number.NaN);
    return Number.isFinite(value) ? clamp(value) : undefined;
  } catch {
    return undefined;
  }
}

function storeShare(key: string, share: number): void {
  try {
    localStorage.setItem(`split:${key}`, String(share));
  } catch {
    // The width counts until the page is left.
  }
}
