import { createUses } from "../access/index.ts";
import { problem } from "./problems.ts";

/** Who names which secret. It has to be there: a name that means nothing is found when it is written, not by a run. */
export const secretReferences = createUses({
  ...{ what: "Secret", things: "secrets", uses: "secret_uses" },
  absent: (reference) => problem("secret.bad_reference", [reference, "this place"]),
});
