import { outgoingGet, sendRequest } from "../../platform/outgoing/get.ts";
import type { MayReach } from "../../platform/outgoing/reach.ts";
import { Unreached } from "../../platform/outgoing/unreached.ts";
import type { ClusterAccess } from "./cluster-access.ts";
import { typeNamed } from "./table.ts";
import type { Fault, TestTools } from "./type.ts";

export type ConnectionTest = {
  readonly type: string;
  /** The stored spec. */
  readonly spec: unknown;
  /** The values of the referenced secrets, without those that could not be read. */
  readonly secrets: readonly { readonly reference: string; readonly value: string }[];
};

/** A referenced secret is missing. */
class MissingSecret extends Error {}

type TestPlace = {
  readonly mayReach: MayReach;
  /** Aborts the test. */
  readonly signal: AbortSignal;
  readonly ownCluster?: (() => ClusterAccess | undefined) | undefined;
};

const noOwnCluster = (): undefined => undefined;

/** Tests the connection from this process. Returns the fault, undefined on success; never throws. */
export async function runTest(
  { type: name, spec, secrets }: ConnectionTest,
  { mayReach, signal, ownCluster = noOwnCluster }: TestPlace,
): Promise<Fault | undefined> {
  const type = typeNamed(name);
  if (!type) return { reason: "Unknown type", message: `Connectors of type ${name} are not known here.`, code: 0 };
  const values = new Map(secrets.map(({ reference, value }) => [reference, value]));
  const secret = (reference: string): string => {
    const value = values.get(reference);
    if (value === undefined) throw new MissingSecret(`The secret [${reference}] cannot be read.`);
    return value;
  };
  const limits = { mayReach, signal };
  const getDirectly: TestTools["getDirectly"] = (url, request) =>
    sendRequest(limits, new URL(url), { method: "GET", ...request });
  try {
    return await type.test(spec, { get: outgoingGet(limits), getDirectly, secret, ownCluster });
  } catch (error) {
    if (error instanceof Unreached) return { reason: error.reason, message: error.message, code: 0 };
    if (error instanceof MissingSecret) return { reason: "Secret", message: error.message, code: 0 };
    // The text of an unknown error may contain a secret, so it is not repeated.
    return { reason: "Unexpected", message: "The test failed unexpectedly.", code: 0 };
  }
}
