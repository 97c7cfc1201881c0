/** `flowControl`: the barriers that steps wait at. */
import { z } from "zod";
import { identifier, name } from "../../steps/schema/fields.ts";

const MAX_BARRIERS = 100;

const barrier = z.strictObject({
  identifier: identifier.describe("Named by `barrierRef`"),
  name: name.describe("Shown to people"),
});

const barriers = z
  .array(barrier)
  .max(MAX_BARRIERS)
  .superRefine((list, context) => {
    const seen = new Set<string>();
    for (const [index, one] of list.entries()) {
      const message = `The barrier '${one.identifier}' is given twice`;
      if (seen.has(one.identifier)) context.addIssue({ code: "custom", path: [index, "identifier"], message });
      seen.add(one.identifier);
    }
  });

export const flowControl = z.strictObject({ barriers: barriers.nullish().describe("What Barrier steps wait at") });
