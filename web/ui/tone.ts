/** Meanings that have a colour. A colour never stands alone: text or a shape says the same. */
export type Tone =
  | "neutral"
  | "success"
  | "failed"
  | "running"
  | "waiting"
  | "paused"
  | "aborted"
  | "skipped"
  | "expired"
  | "rejected"
  | "ignored"
  | "queued";
