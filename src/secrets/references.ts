import { createReferences } from "../access/index.ts";
import { problem } from "./problems.ts";

/** Recorded references to secrets. A referenced secret must exist when the referring resource is saved. */
export const secretReferences = createReferences({
  what: "Secret",
  things: "secrets",
  uses: "secret_uses",
  absent: (reference) => problem("secret.bad_reference", [reference, "this place"]),
});
