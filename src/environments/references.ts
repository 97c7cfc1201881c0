import { createReferences } from "../access/index.ts";

/** Recorded references to services and environments. A referenced one may be missing until an execution needs it. */
export const targetReferences = {
  environment: createReferences({ what: "Environment", things: "environments", uses: "environment_uses" }),
  service: createReferences({ what: "Service", things: "services", uses: "service_uses" }),
} as const;
