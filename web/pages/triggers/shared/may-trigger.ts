import { deliveryReplay, triggerUpdate } from "../../../api/operations.gen.ts";
import type { May } from "../../../api/permissions.ts";

/** Saving a trigger of the pipeline needs the permission to start what it starts. */
export const maySaveTrigger = (may: May, pipeline?: string): boolean =>
  may(triggerUpdate, pipeline) && may(deliveryReplay, pipeline);
