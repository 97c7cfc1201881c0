import { useSyncExternalStore } from "react";
import { formatDuration, isoDuration } from "../util/duration.ts";
import { currentSecond, subscribeToTicks } from "../util/ticker.ts";
import { formatExactTime, formatRelative } from "../util/time.ts";
import styles from "./time.module.css";

/** How long ago, or when. Renders again only when its text changes. */
export function RelativeTime({ at }: { readonly at: number | string }) {
  const ms = typeof at === "number" ? at : Date.parse(at);
  const text = useSyncExternalStore(subscribeToTicks, () => formatRelative(ms, currentSecond()));
  return (
    <time className={styles.time} dateTime={isoTime(ms)} title={formatExactTime(ms)}>
      {text}
    </time>
  );
}

/** Day, time and time zone. */
export function ExactTime({ at }: { readonly at: number | string }) {
  const ms = typeof at === "number" ? at : Date.parse(at);
  return (
    <time className={styles.time} dateTime={isoTime(ms)}>
      {formatExactTime(ms)}
    </time>
  );
}

type DurationProps = {
  readonly startedAt: number;
  /** Without it the duration goes on. */
  readonly endedAt?: number | undefined;
};

export function Duration({ startedAt, endedAt }: DurationProps) {
  const text = useSyncExternalStore(subscribeToTicks, () =>
    // Whole seconds while it runs.
    formatDuration(endedAt === undefined ? wholeSeconds(currentSecond() - startedAt) : endedAt - startedAt),
  );
  const iso = endedAt === undefined ? undefined : isoDuration(endedAt - startedAt);
  return (
    <time className={styles.time} dateTime={iso}>
      {text}
    </time>
  );
}

const wholeSeconds = (ms: number): number => Math.max(1_000, ms);

const isoTime = (ms: number): string | undefined => (Number.isFinite(ms) ? new Date(ms).toISOString() : undefined);
