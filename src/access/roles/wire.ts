import { z } from "zod";
import type { Place } from "../../core/reference.ts";
import { description, displayName, scopeIdentifier, tags } from "../../platform/document/fields.ts";
import { epochMs, stringMap } from "../../platform/http/response/shapes.ts";
import { levelOf } from "../grants/permission.ts";
import type { NewRole, Role } from "./role.ts";

export const LEVELS = ["account", "organization", "project"] as const;

export const roleBody = z.strictObject({
  identifier: scopeIdentifier,
  name: displayName,
  permissions: z.array(z.string().max(128)).max(500),
  allowedScopeLevels: z.array(z.enum(LEVELS)).min(1).max(3).nullish(),
  description,
  tags,
});

export const readRole = (place: Place, body: z.output<typeof roleBody>): NewRole => ({
  ...place,
  identifier: body.identifier,
  name: body.name,
  description: body.description,
  tags: body.tags,
  permissions: [...new Set(body.permissions)],
  levels: body.allowedScopeLevels ? [...new Set(body.allowedScopeLevels)] : [levelOf(place)],
});

export const roleResponse = (accountIdentifier: string, role: Role) => ({
  role: {
    identifier: role.identifier,
    name: role.name,
    permissions: role.permissions,
    allowedScopeLevels: role.levels,
    description: role.description,
    tags: role.tags,
  },
  scope: {
    accountIdentifier,
    orgIdentifier: role.orgIdentifier,
    projectIdentifier: role.projectIdentifier,
  },
  platformManaged: role.id === null,
  createdAt: role.createdAt,
  lastModifiedAt: role.updatedAt,
});

export const roleShape = z.strictObject({
  role: z.strictObject({
    identifier: z.string(),
    name: z.string(),
    permissions: z.array(z.string()),
    allowedScopeLevels: z.array(z.enum(LEVELS)),
    description: z.string(),
    tags: stringMap,
  }),
  scope: z.strictObject({
    accountIdentifier: z.string(),
    orgIdentifier: z.string().nullable(),
    projectIdentifier: z.string().nullable(),
  }),
  platformManaged: z.boolean(),
  createdAt: epochMs,
  lastModifiedAt: epochMs,
});
