import { stringify } from "yaml";
import type { Scope } from "../../../api/permissions.ts";

/** A trigger that can be saved as it is. */
export const newTriggerYaml = (scope: Required<Scope>, pipelineIdentifier: string): string =>
  stringify({
    trigger: {
      name: "New trigger",
      identifier: "new_trigger",
      enabled: true,
      ...scope,
      pipelineIdentifier,
      source: { type: "Webhook", spec: { type: "Custom" } },
    },
  });
