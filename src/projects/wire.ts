/** Our project ↔ the shapes of spec.md ("Project", "Create project"). */
import { z } from "zod";
import { description, displayName, scopeIdentifier, tags } from "../platform/document/fields.ts";
import { epochMs, stringMap } from "../platform/http/shapes.ts";
import { DEFAULT_COLOR, type Project } from "./project.ts";

/** A project always has every module; the field exists for clients that send and read it. */
const MODULES = ["CD", "CI", "CV", "CF", "CE", "CORE", "PMS", "TEMPLATESERVICE"] as const;

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
  modules: z.array(z.enum(MODULES)).nullish(),
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
