/** Maps projects to their public shapes and back. */
import { z } from "zod";
import { description, displayName, scopeIdentifier, tags } from "../platform/document/fields.ts";
import { epochMs, stringMap } from "../platform/http/response/shapes.ts";
import { isPlatformManaged, type Organization } from "./organizations/organization.ts";
import { DEFAULT_COLOR, type Project } from "./project.ts";

/** Every project has every module. The field exists for clients that send and read it. */
const MODULES = ["CD", "CI", "CV", "CF", "CE", "CORE", "PMS", "TEMPLATESERVICE"] as const;

/** The query `moduleType`. */
export const modules = z.enum(MODULES);

export const organizationBody = z.strictObject({ name: displayName, identifier: scopeIdentifier, description, tags });

export const organizationResponse = (organization: Organization) => ({
  organization: {
    identifier: organization.identifier,
    name: organization.name,
    description: organization.description,
    tags: organization.tags,
  },
  createdAt: organization.createdAt,
  lastModifiedAt: organization.updatedAt,
  platformManaged: isPlatformManaged(organization),
});

export const organizationShape = z.strictObject({
  organization: z.strictObject({
    identifier: z.string(),
    name: z.string(),
    description: z.string(),
    tags: stringMap,
  }),
  createdAt: epochMs,
  lastModifiedAt: epochMs,
  platformManaged: z.boolean(),
});

export const projectBody = z.strictObject({
  name: displayName,
  orgIdentifier: scopeIdentifier.optional(),
  identifier: scopeIdentifier,
  color: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, "must be a hex colour such as #0063F7")
    .nullish()
    .transform((color) => color ?? DEFAULT_COLOR),
  description,
  tags,
  modules: z.array(modules).nullish(),
});

export const projectResponse = (project: Project) => ({
  project: {
    orgIdentifier: project.orgIdentifier,
    identifier: project.identifier,
    name: project.name,
    color: project.color,
    modules: MODULES,
    description: project.description,
    tags: project.tags,
  },
  createdAt: project.createdAt,
  lastModifiedAt: project.updatedAt,
});

export const projectShape = z.strictObject({
  project: z.strictObject({
    orgIdentifier: z.string(),
    identifier: z.string(),
    name: z.string(),
    color: z.string(),
    modules: z.array(z.enum(MODULES)),
    description: z.string(),
    tags: stringMap,
  }),
  createdAt: epochMs,
  lastModifiedAt: epochMs,
});
