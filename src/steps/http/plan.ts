import { mayReadOutputs, secretsIn, type SecretsHome } from "../../engine/index.ts";
import type { PlanContext } from "../step-module.ts";
import type { HttpSpec } from "./schema.ts";

type Named = { readonly name: string; readonly value: string };

/** The work of an Http step before its expressions are resolved. */
export type HttpTemplate = {
  readonly kind: "http";
  readonly method: string;
  readonly url: string;
  readonly headers: readonly Named[];
  readonly body?: string;
  readonly inputs: readonly Named[];
  readonly assertion?: string;
  readonly outputs: readonly Named[];
  /** Of a request with secrets. */
  readonly home?: SecretsHome;
};

export function plan(spec: HttpSpec, { home, withSecrets }: PlanContext): HttpTemplate {
  const { method, requestBody, assertion } = spec;
  const url = withSecrets(spec.url);
  const headers = (spec.headers ?? []).map(({ key, value }) => ({ name: key, value: withSecrets(value) }));
  const body = requestBody ? withSecrets(requestBody) : undefined;
  const asksForSecrets = [url, body ?? "", ...headers.map(({ value }) => value)].some(
    (text) => secretsIn(text).length > 0 || mayReadOutputs(text),
  );
  return {
    ...{ kind: "http", method, url, headers },
    ...(body !== undefined && { body }),
    inputs: (spec.inputVariables ?? []).map(({ name, value }) => ({ name, value: String(value ?? "") })),
    ...(assertion && { assertion }),
    outputs: (spec.outputVariables ?? []).map(({ name, value }) => ({ name, value })),
    ...(asksForSecrets && { home }),
  };
}
