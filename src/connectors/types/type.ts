/** The interface of a connector type. Each type is a file in this folder, and an entry in `table.ts`. */
import type { z } from "zod";
import type { OutgoingGet, OutgoingResponse, TlsIdentity } from "../../platform/outgoing/get.ts";
import type { ClusterAccess } from "./cluster-access.ts";

export const CATEGORIES = [
  "CLOUD_PROVIDER",
  "SECRET_MANAGER",
  "CLOUD_COST",
  "ARTIFACTORY",
  "CODE_REPO",
  "MONITORING",
  "TICKETING",
] as const;
export type Category = (typeof CATEGORIES)[number];

/** A reference to a secret (`account.x`, `org.x`, `x`), and its path in the spec. */
export type SecretReference = { readonly path: readonly string[]; readonly reference: string };

/** Where connections of a connector start. */
export type Origin = {
  /** The delegate must have all of these tags. */
  readonly selectors: readonly string[];
  /** False: the server connects. */
  readonly onDelegate: boolean;
  /** True: the connection is not tested. */
  readonly untested: boolean;
};

/** The fault of a connection. `code` is the HTTP status of the answer, 0 without an answer. It contains no secret. */
export type Fault = { readonly reason: string; readonly message: string; readonly code: number };

export type TestTools = {
  /** Throws Unreached. */
  readonly get: OutgoingGet;
  /** As `get`, with the TLS identity, and without following redirects. */
  readonly getDirectly: (
    url: string,
    request: { readonly headers: Readonly<Record<string, string>>; readonly tls: TlsIdentity },
  ) => Promise<OutgoingResponse>;
  /** The access of this process to a cluster; undefined if it has none. Throws Unreached if it cannot be used. */
  readonly ownCluster: () => ClusterAccess | undefined;
  /** Returns the value of a secret that the spec references. Throws if it is missing. */
  readonly secret: (reference: string) => string;
};

export type ConnectorType<S> = {
  /** The value of `connector.type`. */
  readonly name: string;
  /** Other values of `connector.type` that requests may have for it. */
  readonly aliases?: readonly string[];
  readonly category: Category;
  /** Parses the spec of a document into the stored one. `z.never()` marks unsupported fields. */
  readonly schema: z.ZodType<S>;
  /** Maps the stored spec to the one in answers, which `shape` describes. */
  readonly wire: (spec: S) => unknown;
  readonly shape: z.ZodType;
  /** The allowed values of enumerated fields, by the path of the field in the spec. */
  readonly fieldValues: Readonly<Record<string, readonly string[]>>;
  readonly secrets: (spec: S) => readonly SecretReference[];
  readonly origin: (spec: S) => Origin;
  /** Connects from the process that runs it, a delegate or the server. Returns undefined on success. */
  readonly test: (spec: S, tools: TestTools) => Promise<Fault | undefined>;
};

/** An entry of the table; only the type itself reads the spec. */
export type AnyType = ConnectorType<unknown>;

/** Erases the type of the spec. The casts are safe, because stored specs come from `schema`. */
export const connectorType = <S>(type: ConnectorType<S>): AnyType => ({
  ...type,
  wire: (spec) => type.wire(spec as S),
  secrets: (spec) => type.secrets(spec as S),
  origin: (spec) => type.origin(spec as S),
  test: (spec, tools) => type.test(spec as S, tools),
});
