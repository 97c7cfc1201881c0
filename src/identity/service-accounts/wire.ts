/** Maps service accounts to their public shapes and back. */
import { z } from "zod";
import { toWire, type Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import { description, displayName, scopeIdentifier, tags } from "../../platform/document/fields.ts";
import { epochMs, stringMap, wireId } from "../../platform/http/response/shapes.ts";
import type { ListedServiceAccount, ServiceAccount, ServiceAccountFields } from "./service-account.ts";

export const serviceAccountBody = z.strictObject({
  identifier: scopeIdentifier,
  name: displayName,
  email: z.string().max(320).nullish().describe("Derived from the identifier; the sent value is ignored."),
  description,
  tags,
  accountIdentifier: z.string().nullish(),
  orgIdentifier: scopeIdentifier.nullish(),
  projectIdentifier: scopeIdentifier.nullish(),
});

export const serviceAccountFields = (
  { identifier, name, description: text, tags: labels }: z.output<typeof serviceAccountBody>,
  { orgIdentifier, projectIdentifier }: Place,
): ServiceAccountFields => ({ orgIdentifier, projectIdentifier, identifier, name, description: text, tags: labels });

export const serviceAccountResponse = (account: ServiceAccount, accountId: Uuid) => ({
  uuid: toWire(account.id),
  identifier: account.identifier,
  name: account.name,
  email: account.email,
  description: account.description,
  tags: account.tags,
  accountIdentifier: toWire(accountId),
  orgIdentifier: account.orgIdentifier,
  projectIdentifier: account.projectIdentifier,
});
export const serviceAccountShape = z.strictObject({
  uuid: wireId.describe("What access.check and the filter of the audit trail name it by."),
  identifier: z.string(),
  name: z.string(),
  email: z.string(),
  description: z.string(),
  tags: stringMap,
  accountIdentifier: wireId,
  orgIdentifier: z.string().nullable(),
  projectIdentifier: z.string().nullable(),
});

export const serviceAccountAggregate = (account: ListedServiceAccount, accountId: Uuid) => ({
  serviceAccount: serviceAccountResponse(account, accountId),
  createdAt: account.createdAt,
  lastModifiedAt: account.updatedAt,
  tokensCount: account.tokens,
});
export const serviceAccountAggregateShape = z.strictObject({
  serviceAccount: serviceAccountShape,
  createdAt: epochMs,
  lastModifiedAt: epochMs,
  tokensCount: z.int(),
});
