import { createUses } from "../access/index.ts";

/** Who names which connector. It need not be there yet: a run looks for it. */
export const connectorReferences = createUses({ what: "Connector", things: "connectors", uses: "connector_uses" });
