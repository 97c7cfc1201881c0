import { z } from "zod";
import { choice, type Phase, text } from "../schema/fields.ts";
import { isMarker } from "../schema/marker.ts";

const MAX_KEY = 256;

/** What is wrong with the key of a lock; undefined if nothing is. */
export function keyFault(key: string): string | undefined {
  if (key.trim() === "") return "The key of a lock is not empty";
  if (key.includes("\0")) return "The key of a lock has no NUL character";
  return key.length > MAX_KEY ? `The key of a lock has at most ${MAX_KEY} characters, not ${key.length}` : undefined;
}

/** What expressions come to is read when the step begins. */
const isOpen = (value: string, phase: Phase): boolean =>
  value.includes("<+") && (phase === "saved" || !isMarker(value));

export const queue = (phase: Phase) =>
  z.strictObject({
    key: text(phase)
      .superRefine((value, context) => {
        const fault = isOpen(value, phase) ? undefined : keyFault(value);
        if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
      })
      .describe("The lock, one of its name in the account; may hold expressions"),
    scope: choice("Scope", ["Pipeline", "Stage"], () => false).describe("At whose end the lock is released"),
  });

export type QueueSpec = z.output<ReturnType<typeof queue>>;
