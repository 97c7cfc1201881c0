import { z } from "zod";
import { ENTITY_IDENTIFIER } from "../../core/identifier.ts";
import { type Phase, text } from "../schema/fields.ts";
import { isMarker } from "../schema/marker.ts";

export const barrier = (phase: Phase) =>
  z.strictObject({
    barrierRef: text(phase)
      .refine((value) => (phase === "saved" && isMarker(value)) || ENTITY_IDENTIFIER.test(value), {
        error: "Expected the identifier of a barrier, without expressions",
      })
      .describe("Identifier of one of the pipeline's `flowControl.barriers`"),
  });

export type BarrierSpec = z.output<ReturnType<typeof barrier>>;
