/** What a type of connector has to say of itself; each stands in a file of this folder, and in `table.ts`. */
import type { z } from "zod";
import type { Get } from "../../platform/outgoing/get.ts";

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

/** A secret that a connector names: where in its spec, and as what (`account.x`, `org.x`, `x`). */
export type SecretReference = { readonly path: readonly string[]; readonly reference: string };

/** From where a connector is used. */
export type Origin = {
  /** Tags that the delegate must have, all of them. */
  readonly selectors: readonly string[];
  /** False: the server connects by itself. */
  readonly onDelegate: boolean;
  /** True: nobody tests this connection. */
  readonly untested: boolean;
};

/** What was wrong; `code` is the HTTP status that the other side gave, 0 where it gave none. No secret is in it. */
export type Fault = { readonly reason: string; readonly message: string; readonly code: number };

export type TestTools = {
  /** Throws Unreached. */
  readonly get: Get;
  /** The value of a secret that the spec names. Throws where it is missing. */
  readonly secret: (reference: string) => string;
};

export type ConnectorType<S> = {
  /** As it stands in `connector.type`. */
  readonly name: string;
  readonly category: Category;
  /** The spec as documents write it, made into the one that is kept. `z.never()` marks what the wider language has and we lack. */
  readonly schema: z.ZodType<S>;
  /** The spec as answers show it, and the schema of that. */
  readonly wire: (spec: S) => unknown;
  readonly shape: z.ZodType;
  /** The values of fields that take a fixed few, by the path of the field in the spec. */
  readonly fieldValues: Readonly<Record<string, readonly string[]>>;
  readonly secrets: (spec: S) => readonly SecretReference[];
  readonly origin: (spec: S) => Origin;
  /** Really connects, from wherever it runs: a delegate, or the server. Undefined when all is well. */
  readonly test: (spec: S, tools: TestTools) => Promise<Fault | undefined>;
};

/** A type whose spec only it can read: what the table holds. */
export type AnyType = ConnectorType<unknown>;

/** The specs that come back are those that `schema` made: they went into the database and out of it. */
export const connectorType = <S>(type: ConnectorType<S>): AnyType => ({
  ...type,
  wire: (spec) => type.wire(spec as S),
  secrets: (spec) => type.secrets(spec as S),
  origin: (spec) => type.origin(spec as S),
  test: (spec, tools) => type.test(spec as S, tools),
});
