import { createReferences } from "../access/index.ts";

/** Recorded references to connectors. A referenced connector may be missing until an execution needs it. */
export const connectorReferences = createReferences({
  what: "Connector",
  things: "connectors",
  uses: "connector_uses",
});
