import { z } from "zod";
import { parseDuration } from "../../engine/index.ts";
import { type Phase, text } from "../schema/fields.ts";
import { isMarker } from "../schema/marker.ts";

export const DURATION_FORM =
  "A duration is written like 10m, 90s or 1h 30m (units w d h m s), at least 10s, at most 53w";

/** What expressions come to is read when the step begins. */
const isOpen = (value: string, phase: Phase): boolean =>
  value.includes("<+") && (phase === "saved" || !isMarker(value));

export const wait = (phase: Phase) =>
  z.strictObject({
    duration: text(phase, DURATION_FORM)
      .refine((value) => isOpen(value, phase) || parseDuration(value) !== undefined, { error: DURATION_FORM })
      .describe("How long the step waits, as in `10m`; may hold expressions"),
  });

export type WaitSpec = z.output<ReturnType<typeof wait>>;
