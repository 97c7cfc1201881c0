/** The run that the examples of the documentation are evaluated in. */
import type { Json } from "../../model.ts";
import { jsonPlace, own, type Scope } from "../place.ts";

const SAMPLE: Json = {
  pipeline: { name: "Release", identifier: "release", variables: { env: "prod" }, sequenceId: 7 },
  stage: { name: "Deploy", identifier: "deploy" },
  trigger: { type: "Webhook", payload: { ref: "refs/heads/main" } },
};

/** The scope of a JSON value whose members are the roots. */
export const scopeOf = (context: Json): Scope => ({
  root(name) {
    const value = own(context, name);
    return value === undefined ? undefined : jsonPlace(value);
  },
});

export const sampleScope: Scope = scopeOf(SAMPLE);
