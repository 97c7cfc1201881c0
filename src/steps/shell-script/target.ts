/** `executionTarget`: the host that a step runs on instead of its delegate. */
import { z } from "zod";
import { type Phase, text } from "../schema/fields.ts";
import { isMarker } from "../schema/marker.ts";
import { isReference } from "../schema/secret-reference.ts";

const LOGIN =
  "The connectorRef of an executionTarget is the reference of an SSH credential, as in account.name, org.name or name";

/** The reference is written out: one that is put together at the run would let others choose the credential. */
const login = (phase: Phase) => text(phase).refine((value) => isMarker(value) || isReference(value), { error: LOGIN });

export const executionTarget = (phase: Phase) =>
  z.strictObject({
    host: text(phase).nullish().describe("A name or an address, chosen by the author of the pipeline"),
    connectorRef: login(phase).nullish().describe("An SSH credential"),
    workingDirectory: text(phase).nullish().describe("The login's folder where it is left out"),
  });

type Spec = {
  readonly onDelegate?: boolean | null | undefined;
  readonly executionTarget?: z.output<ReturnType<typeof executionTarget>> | null | undefined;
};

const FIELDS = ["host", "connectorRef", "workingDirectory"] as const;

export function checkTarget({ onDelegate, executionTarget: target }: Spec, context: z.RefinementCtx): void {
  const isGiven = (field: (typeof FIELDS)[number]): boolean => (target?.[field] ?? null) !== null;
  const refuse = (path: string[], message: string): void => context.addIssue({ code: "custom", path, message });
  if (onDelegate !== false) {
    for (const field of FIELDS)
      if (isGiven(field)) refuse(["executionTarget", field], `'${field}' is for steps with onDelegate: false`);
    return;
  }
  const missing = (["host", "connectorRef"] as const).filter((field) => !isGiven(field));
  if (missing.length > 0)
    refuse(
      ["onDelegate"],
      `A step with onDelegate: false needs ${missing.map((one) => `executionTarget.${one}`).join(" and ")}`,
    );
}
