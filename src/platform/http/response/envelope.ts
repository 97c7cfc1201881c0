/** The bodies of all REST answers. */
import type { Problem } from "../../../core/problem.ts";

/**
 * The clients that read an error: NextGen REST; the older REST, with the envelope of delegate tags `{metaData,
 * resource, responseMessages}`; GraphQL, whose refused requests have it with `metadata`; or SCIM.
 */
export type ErrorFamily = "rest" | "resource" | "graphql" | "scim";

const JSON_TYPE = "application/json; charset=utf-8";
/** The content type of a family's errors. */
export const CONTENT_TYPES: Readonly<Record<ErrorFamily, string>> = {
  rest: JSON_TYPE,
  resource: JSON_TYPE,
  graphql: JSON_TYPE,
  scim: "application/scim+json; charset=utf-8",
};

export const success = (data: unknown, correlationId: string) => ({
  status: "SUCCESS",
  data,
  metaData: null,
  correlationId,
});

const message = (problem: Problem) => ({
  code: problem.wire,
  level: "ERROR",
  message: problem.message,
  exception: null,
  failureTypes: [],
});

export function errorBody(problem: Problem, family: ErrorFamily, correlationId: string): unknown {
  if (family === "scim") return scimError(problem);
  // The status that clients see, whatever is behind it.
  if (problem.status === 429) return { code: problem.wire, message: problem.message, status: "Error" };
  const older = { resource: null, responseMessages: [message(problem)] };
  if (family === "resource") return { metaData: {}, ...older };
  if (family === "graphql") return { metadata: {}, ...older };
  return {
    status: "ERROR",
    code: problem.wire,
    message: problem.message,
    correlationId,
    detailedMessage: null,
    responseMessages: [{ ...message(problem), failureSubTypes: [], additionalInfo: infoOf(problem) }],
    metadata:
      problem.faults.length === 0 ? null : { type: "SchemaErrors", schemaErrors: problem.faults.map(faultResponse) },
  };
}

const infoOf = ({ currentVersion }: Problem) => (currentVersion === undefined ? {} : { currentVersion });

/** A fault of a document, as errors and checks have it. */
export const faultResponse = (fault: Problem["faults"][number]) => ({
  message: fault.message,
  fqn: fault.path,
  line: fault.line ?? null,
  column: fault.column ?? null,
  hintMessage: fault.about?.hint ?? null,
  stageInfo: fault.about?.stage ?? null,
  stepInfo: fault.about?.step ?? null,
});

/** RFC 7644 section 3.12, table 9. */
const SCIM_TYPES = new Set([
  "invalidFilter",
  "tooMany",
  "uniqueness",
  "mutability",
  "invalidSyntax",
  "invalidPath",
  "noTarget",
  "invalidValue",
  "invalidVers",
  "sensitive",
]);

/** A problem whose wire code is a `scimType` includes it. */
const scimError = ({ status, wire, message: detail }: Problem) => ({
  schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
  status: String(status),
  ...(SCIM_TYPES.has(wire) ? { scimType: wire } : {}),
  detail,
});
