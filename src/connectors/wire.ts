/** Maps connectors to their public shapes and back. */
import { z } from "zod";
import { toWire } from "../core/ids.ts";
import type { Doc } from "../platform/document/document.ts";
import { description, displayName, scopeIdentifier, tags } from "../platform/document/fields.ts";
import { validateEnvelope, type LenientOptions } from "../platform/document/json/lenient.ts";
import { faultOf, documentProblem } from "../platform/document/validate.ts";
import { epochMs, stringMap, wireId } from "../platform/http/response/shapes.ts";
import type { TestResult } from "./connection-tests/connection-test.ts";
import type { ConnectionStatus, Connector, NewConnector } from "./connector.ts";
import { connectorTypes, typeNamed, typeOf } from "./types/table.ts";
import { CATEGORIES, type AnyType } from "./types/type.ts";

/**
 * The last segments of paths such as `GET /ng/api/connectors/catalogue`. A connector with such an identifier could not
 * be read.
 */
const PATHS = new Set(["catalogue", "fieldValues", "stats", "validateUniqueIdentifier"]);
const names = connectorTypes.map(({ name }) => name);

const bodyFor = (type: AnyType | undefined) =>
  z.strictObject({
    name: displayName,
    identifier: scopeIdentifier.refine((text) => !PATHS.has(text), { error: "is a path of the interface" }),
    description,
    orgIdentifier: scopeIdentifier.nullish(),
    projectIdentifier: scopeIdentifier.nullish(),
    tags,
    type: type ? typeName(type) : z.enum(names),
    // The schema of the spec depends on the type, so an unknown type is the only reported fault.
    spec: type ? type.schema : z.unknown(),
  });

const typeName = ({ name, aliases = [] }: AnyType): z.ZodType<string> =>
  aliases.length === 0 ? z.literal(name) : z.enum([name, ...aliases]).transform(() => name);

/** The schema of a document of any type, for the API description. */
export const connectorBody = z.union(connectorTypes.map(bodyFor));

/** Reads the connector of a document. Throws `document.invalid`. */
export function readConnector(doc: Doc, onIgnored: LenientOptions["onIgnored"]): NewConnector {
  const found = expressionIn(doc.value, []);
  if (found)
    throw documentProblem([faultOf(doc, found, "expressions and runtime inputs are not supported in connectors")]);
  const type = typeNamed((doc.value as { connector?: { type?: unknown } } | null)?.connector?.type);
  const {
    orgIdentifier = null,
    projectIdentifier = null,
    spec,
    ...body
  } = validateEnvelope(bodyFor(type), doc, { root: "connector", onIgnored });
  return { ...body, orgIdentifier, projectIdentifier, spec };
}

/** Finds `<+…>` in a document. Expressions in connectors are not evaluated, so they are rejected. */
function expressionIn(value: unknown, path: readonly (string | number)[]): (string | number)[] | undefined {
  if (typeof value === "string") return value.includes("<+") ? [...path] : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, part] of Object.entries(value)) {
    const found = expressionIn(part, [...path, Array.isArray(value) ? Number(key) : key]);
    if (found) return found;
  }
  return undefined;
}

const NO_GIT = { objectId: null, branch: null, repoIdentifier: null, rootFolder: null, filePath: null };

export const connectorResponse = (connector: Connector) => ({
  connector: {
    name: connector.name,
    identifier: connector.identifier,
    description: connector.description,
    orgIdentifier: connector.orgIdentifier,
    projectIdentifier: connector.projectIdentifier,
    tags: connector.tags,
    type: connector.type,
    spec: typeOf(connector).wire(connector.spec),
  },
  createdAt: connector.createdAt,
  lastModifiedAt: connector.updatedAt,
  status: connector.status && statusResponse(connector.status),
  activityDetails: { lastActivityTime: connector.activityAt },
  platformManaged: false,
  gitDetails: NO_GIT,
  entityValidityDetails: { valid: true, invalidYaml: null },
});

const statusResponse = (status: ConnectionStatus) => ({
  status: status.status,
  errorSummary: status.errorSummary,
  errors: status.errors,
  testedAt: status.testedAt,
  lastTestedAt: status.testedAt,
  lastConnectedAt: status.connectedAt,
});

const faultShape = z.strictObject({
  reason: z.string(),
  message: z.string(),
  code: z.int().describe("The HTTP status that the other side gave; 0 where it gave none."),
});
const nothing = z.null();

export const connectorShape = z.strictObject({
  connector: z.strictObject({
    name: z.string(),
    identifier: z.string(),
    description: z.string(),
    orgIdentifier: z.string().nullable(),
    projectIdentifier: z.string().nullable(),
    tags: stringMap,
    type: z.enum(names),
    spec: z.union(connectorTypes.map(({ shape }) => shape)),
  }),
  createdAt: epochMs,
  lastModifiedAt: epochMs,
  status: z
    .strictObject({
      status: z.enum(["SUCCESS", "FAILURE"]),
      errorSummary: z.string().nullable(),
      errors: z.array(faultShape),
      testedAt: epochMs,
      lastTestedAt: epochMs,
      lastConnectedAt: epochMs.nullable(),
    })
    .nullable()
    .describe("Null until the connection has been tested as the connector now stands."),
  activityDetails: z.strictObject({ lastActivityTime: epochMs }),
  platformManaged: z.boolean(),
  gitDetails: z.strictObject({
    objectId: nothing,
    branch: nothing,
    repoIdentifier: nothing,
    rootFolder: nothing,
    filePath: nothing,
  }),
  entityValidityDetails: z.strictObject({ valid: z.boolean(), invalidYaml: nothing }),
});

/** The connector types by category. */
export const catalogueResponse = () => ({
  catalogue: CATEGORIES.map((category) => ({
    category,
    connectors: connectorTypes.filter((type) => type.category === category).map(({ name }) => name),
  })).filter(({ connectors }) => connectors.length > 0),
});

export const catalogueShape = z.strictObject({
  catalogue: z.array(z.strictObject({ category: z.enum(CATEGORIES), connectors: z.array(z.enum(names)) })),
});

/** The public shape ConnectorValidationResult. */
export const testResponse = (result: TestResult) => ({
  status: result.status,
  errors: result.fault ? [result.fault] : [],
  errorSummary:
    result.status === "UNKNOWN" ? "The connector is set to be left untested." : (result.fault?.message ?? null),
  testedAt: result.testedAt,
  delegateId: result.delegateId && toWire(result.delegateId),
});

export const testShape = z.strictObject({
  status: z.enum(["SUCCESS", "FAILURE", "UNKNOWN"]),
  errors: z.array(faultShape),
  errorSummary: z.string().nullable(),
  testedAt: epochMs,
  delegateId: wireId.nullable().describe("Null where no delegate connected."),
});
