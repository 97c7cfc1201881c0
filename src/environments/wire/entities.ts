/** Maps environments and services to their public shapes and back. */
import { z } from "zod";
import { toWire, type Uuid } from "../../core/ids.ts";
import { displayName, scopeIdentifier, tagMap } from "../../platform/document/fields.ts";
import { epochMs, stringMap, wireId } from "../../platform/http/response/shapes.ts";
import type { Entity, Environment, Fields, Service } from "../entity.ts";

const unsupported = z.never().optional();
/** Unsupported lists: an empty one is accepted, an entry is rejected by name. */
const emptyList = (name: string) => z.array(z.unknown()).max(0, `'${name}' is not supported yet`).nullish();

const common = {
  orgIdentifier: scopeIdentifier.nullish(),
  projectIdentifier: scopeIdentifier.nullish(),
  description: z.string().max(4_096).nullish(),
  tags: tagMap.nullish(),
};
const environmentType = z.enum(["PreProduction", "Production"]);
const color = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, "must be a hex colour such as #0063F7")
  .nullish();

/** The document of an environment below its root. */
const environmentDocument = z.strictObject({
  ...common,
  name: displayName,
  identifier: scopeIdentifier,
  type: environmentType,
  variables: emptyList("variables"),
  overrides: unsupported,
});

const serviceDefinition = z.strictObject({
  type: z.enum(["Kubernetes"], {
    error: ({ input }) => `Service type '${String(input).slice(0, 80)}' is not supported yet. Allowed: Kubernetes`,
  }),
  spec: z
    .strictObject({
      variables: emptyList("variables"),
      artifacts: unsupported,
      manifests: emptyList("manifests"),
      configFiles: emptyList("configFiles"),
      manifestConfigurations: unsupported,
      hooks: unsupported,
    })
    .nullish(),
});

/** The document of a service below its root. */
const serviceDocument = z.strictObject({
  ...common,
  name: displayName,
  identifier: scopeIdentifier,
  serviceDefinition: serviceDefinition.nullish(),
  gitOpsEnabled: z.literal(false, { error: "'gitOpsEnabled: true' is not supported yet" }).nullish(),
});

const noYaml = z.null().optional();
const text = z
  .string()
  .min(1)
  .describe("The document as YAML or JSON text. Fields beside it may repeat it, and must agree.");
const environmentOwn = { ...common, color };

export const ENVIRONMENT_LANGUAGE = {
  root: "environment",
  document: environmentDocument,
  fields: z.strictObject({
    ...environmentOwn,
    name: displayName,
    identifier: scopeIdentifier,
    type: environmentType,
    yaml: noYaml,
  }),
  beside: z.strictObject({
    ...environmentOwn,
    name: displayName.nullish(),
    identifier: scopeIdentifier.nullish(),
    type: environmentType.nullish(),
    yaml: text,
  }),
} as const;

export const SERVICE_LANGUAGE = {
  root: "service",
  document: serviceDocument,
  fields: z.strictObject({ ...common, name: displayName, identifier: scopeIdentifier, yaml: noYaml }),
  beside: z.strictObject({
    ...common,
    name: displayName.nullish(),
    identifier: scopeIdentifier.nullish(),
    yaml: text,
  }),
} as const;

/** The three forms of a request, for the API description. Only the document form rejects unknown fields. */
export const environmentBody = z.union([
  z.object(ENVIRONMENT_LANGUAGE.fields.shape),
  z.object(ENVIRONMENT_LANGUAGE.beside.shape),
  z.strictObject({ environment: environmentDocument }),
]);
export const serviceBody = z.union([
  z.object(SERVICE_LANGUAGE.fields.shape),
  z.object(SERVICE_LANGUAGE.beside.shape),
  z.strictObject({ service: serviceDocument }),
]);

const fieldsOf = (entity: Entity, accountId: Uuid) => ({
  accountId: toWire(accountId),
  id: toWire(entity.id),
  orgIdentifier: entity.orgIdentifier,
  projectIdentifier: entity.projectIdentifier,
  identifier: entity.identifier,
  name: entity.name,
  description: entity.description,
  deleted: false,
  tags: entity.tags,
  version: entity.version,
  yaml: entity.yaml,
});
const fieldsShape = {
  accountId: wireId,
  id: wireId,
  orgIdentifier: z.string().nullable(),
  projectIdentifier: z.string().nullable(),
  identifier: z.string(),
  name: z.string(),
  description: z.string(),
  deleted: z.literal(false),
  tags: stringMap,
  version: z.int(),
  yaml: z.string(),
};
const times = (entity: Entity) => ({ createdAt: entity.createdAt, lastModifiedAt: entity.updatedAt });
const timesShape = { createdAt: epochMs, lastModifiedAt: epochMs };

export const environmentResponse = (environment: Environment, accountId: Uuid) => ({
  environment: { ...fieldsOf(environment, accountId), color: environment.color, type: environment.type },
  ...times(environment),
});
export const environmentShape = z.strictObject({
  environment: z.strictObject({ ...fieldsShape, color: z.string(), type: environmentType }),
  ...timesShape,
});

export const serviceResponse = (service: Service, accountId: Uuid) => ({
  service: fieldsOf(service, accountId),
  ...times(service),
});
export const serviceShape = z.strictObject({ service: z.strictObject(fieldsShape), ...timesShape });

const DEFAULT_COLOR = "#0063F7";

type EnvironmentInput = z.output<typeof environmentDocument> & { readonly color?: string | null | undefined };
export const environmentFields = (input: EnvironmentInput, text: string): Fields<Environment> => ({
  ...serviceFields(input, text),
  type: input.type,
  color: input.color ?? DEFAULT_COLOR,
});

type ServiceInput = Pick<z.output<typeof serviceDocument>, "identifier" | "name" | keyof typeof common>;
export const serviceFields = (input: ServiceInput, text: string): Fields<Service> => ({
  orgIdentifier: input.orgIdentifier ?? null,
  projectIdentifier: input.projectIdentifier ?? null,
  identifier: input.identifier,
  name: input.name,
  description: input.description ?? "",
  tags: { ...input.tags },
  yaml: text,
});
