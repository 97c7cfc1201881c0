/** What can be said against namespace and release name of an infrastructure. */
import { checkTemplate, namespaceFault, referencesOf, releaseNameFault } from "../../engine/index.ts";
import { misread, secretVariables } from "./secrets.ts";
import type { NodeField } from "./texts.ts";

type Found = { readonly offset: number; readonly message: string };

/** The steps of a stage use its infrastructure: their results come too late. */
const OWN_STEPS = new Set<unknown>(["step", "steps", "execution"]);

/** What expressions make of a value is checked when a step starts. */
export function infraFaults({ kind, node }: NodeField, value: string): readonly Found[] {
  if (!value.includes("<+")) {
    const message = kind === "namespace" ? namespaceFault(value) : releaseNameFault(value);
    return message === undefined ? [] : [{ offset: 0, message }];
  }
  const faults = checkTemplate(value, { mayAskSecrets: false });
  if (faults.length > 0) return faults;
  const secrets = misread(value, secretVariables(node), { mayAsk: false });
  if (secrets.length > 0) return secrets;
  return referencesOf(value).flatMap(({ path, offset }) => {
    if (OWN_STEPS.has(path[0]))
      return [
        { offset, message: `An infrastructure cannot read '${path.join(".")}': the steps of its stage run on it` },
      ];
    const isOwn = path[0] === "infra" && path[1] === kind;
    return isOwn ? [{ offset, message: `'infra.${kind}' refers to itself` }] : [];
  });
}
