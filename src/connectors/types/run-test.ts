import { outgoingGet } from "../../platform/outgoing/get.ts";
import type { MayReach } from "../../platform/outgoing/reach.ts";
import { Unreached } from "../../platform/outgoing/unreached.ts";
import { typeNamed } from "./table.ts";
import type { Fault } from "./type.ts";

export type ConnectionTest = {
  readonly type: string;
  /** As it is kept. */
  readonly spec: unknown;
  /** What the secrets hold that the spec names; one that is missing could not be read. */
  readonly secrets: readonly { readonly reference: string; readonly value: string }[];
};

/** A secret that the spec names and nobody can read. */
class NoSecret extends Error {}

/**
 * Tests the connection from here. Undefined when all is well; whatever goes wrong is the answer, nothing is thrown.
 * `signal` ends it.
 */
export async function runTest(
  { type: name, spec, secrets }: ConnectionTest,
  around: { readonly mayReach: MayReach; readonly signal: AbortSignal },
): Promise<Fault | undefined> {
  const type = typeNamed(name);
  if (!type) return { reason: "Unknown type", message: `Connectors of type ${name} are not known here.`, code: 0 };
  const values = new Map(secrets.map(({ reference, value }) => [reference, value]));
  const secret = (reference: string): string => {
    const value = values.get(reference);
    if (value === undefined) throw new NoSecret(`The secret [${reference}] cannot be read.`);
    return value;
  };
  try {
    return await type.test(spec, { get: outgoingGet(around), secret });
  } catch (error) {
    if (error instanceof Unreached) return { reason: error.reason, message: error.message, code: 0 };
    if (error instanceof NoSecret) return { reason: "Secret", message: error.message, code: 0 };
    // Not its text: nobody knows what is in it.
    return { reason: "Unexpected", message: "The test failed unexpectedly.", code: 0 };
  }
}
