/** Maps API keys and tokens to their public shapes and back. */
import { z } from "zod";
import { toWire, type Uuid } from "../../core/ids.ts";
import { description, displayName, scopeIdentifier, tags } from "../../platform/document/fields.ts";
import { epochMs, stringMap, wireId } from "../../platform/http/response/shapes.ts";
import type { ApiKey, ApiKeyFields, ListedApiKey, Parent } from "./api-key.ts";
import { endOf, MOMENT, momentFault, readMoment, type RequestedPeriod } from "./token-period.ts";
import type { TokenOf } from "./tokens/shared.ts";
import type { TokenFields } from "./token.ts";

export const apiKeyType = z.enum(["USER", "SERVICE_ACCOUNT"], { error: "is USER or SERVICE_ACCOUNT" });

/** Ten thousand days. A longer lifetime is probably not in milliseconds. */
const MAX_LIFETIME_MS = 864_000_000_000;

/** The scope and owner of a key in a body. */
const home = {
  accountIdentifier: z.string().nullish(),
  orgIdentifier: scopeIdentifier.nullish(),
  projectIdentifier: scopeIdentifier.nullish(),
  apiKeyType,
  parentIdentifier: z.string().min(1).max(128).nullish().describe("Left out for USER: the person who asks."),
};

export type Home = { readonly [name in keyof typeof home]?: string | null | undefined };

export const apiKeyBody = z.strictObject({
  ...home,
  identifier: scopeIdentifier,
  name: displayName,
  description,
  tags,
  defaultTimeToExpireToken: z
    .int("takes whole milliseconds")
    .positive("must be positive")
    .max(MAX_LIFETIME_MS, "takes 10,000 days at most, in milliseconds")
    .nullish()
    .describe("Milliseconds that a token lives which names no end of its own; none: until it is revoked."),
});

export const apiKeyFields = (body: z.output<typeof apiKeyBody>): ApiKeyFields => ({
  identifier: body.identifier,
  name: body.name,
  description: body.description,
  tags: body.tags,
  defaultTimeToExpireToken: body.defaultTimeToExpireToken ?? null,
});

const homeOf = (parent: Parent, accountId: Uuid) => ({
  apiKeyType: parent.type,
  parentIdentifier: parent.identifier,
  accountIdentifier: toWire(accountId),
  orgIdentifier: parent.orgIdentifier,
  projectIdentifier: parent.projectIdentifier,
});
const homeShape = {
  apiKeyType,
  parentIdentifier: z.string(),
  accountIdentifier: wireId,
  orgIdentifier: z.string().nullable(),
  projectIdentifier: z.string().nullable(),
};

type KeyOf<K extends ApiKey> = { readonly parent: Parent; readonly key: K };

export const apiKeyResponse = ({ parent, key }: KeyOf<ApiKey>, accountId: Uuid) => ({
  identifier: key.identifier,
  name: key.name,
  description: key.description,
  tags: key.tags,
  ...homeOf(parent, accountId),
  defaultTimeToExpireToken: key.defaultTimeToExpireToken,
});
export const apiKeyShape = z.strictObject({
  identifier: z.string(),
  name: z.string(),
  description: z.string(),
  tags: stringMap,
  ...homeShape,
  defaultTimeToExpireToken: z.int().nullable(),
});

export const apiKeyAggregate = (of: KeyOf<ListedApiKey>, accountId: Uuid) => ({
  apiKey: apiKeyResponse(of, accountId),
  createdAt: of.key.createdAt,
  lastModifiedAt: of.key.updatedAt,
  tokensCount: of.key.tokens,
});
export const apiKeyAggregateShape = z.strictObject({
  apiKey: apiKeyShape,
  createdAt: epochMs,
  lastModifiedAt: epochMs,
  tokensCount: z.int(),
});

/** A time in a body or a query; null counts as omitted. */
export const moment = (edge: "first" | "last") =>
  z
    // Each alternative has the message, since a union reports the fault of the closest one.
    .union([z.string({ error: MOMENT }).max(32, MOMENT), z.number({ error: MOMENT })], { error: MOMENT })
    .nullish()
    .transform((given, context) => {
      if (given === undefined || given === null) return undefined;
      const at = readMoment(given, edge);
      if (at !== undefined) return at;
      context.issues.push({ code: "custom", message: momentFault(given), input: given });
      return z.NEVER;
    });

/** A field that lists contain and clients may send back. It has no effect. */
const shown = z.unknown().optional().describe("As a list shows it; it decides nothing.");

export const tokenBody = z.strictObject({
  ...home,
  apiKeyIdentifier: scopeIdentifier,
  identifier: scopeIdentifier,
  name: displayName,
  description,
  tags,
  validFrom: moment("first").describe(`When it begins to hold; now, unless given. ${MOMENT}.`),
  validTo: moment("last").describe(`Until when it holds; for as long as its key says, unless given. ${MOMENT}.`),
  scheduledExpireTime: moment("last").describe(`An earlier end, which may come nearer and is not put off. ${MOMENT}.`),
  valid: shown,
  email: shown,
  username: shown,
});

export const tokenFields = (body: z.output<typeof tokenBody>): TokenFields => ({
  identifier: body.identifier,
  name: body.name,
  description: body.description,
  tags: body.tags,
});

export const periodAsked = (body: z.output<typeof tokenBody>): RequestedPeriod => ({
  validFrom: body.validFrom,
  validTo: body.validTo,
  scheduledEnd: body.scheduledExpireTime,
});

export const tokenResponse = ({ parent, apiKeyIdentifier, token, valid }: TokenOf, accountId: Uuid) => ({
  identifier: token.identifier,
  name: token.name,
  description: token.description,
  tags: token.tags,
  validFrom: token.validFrom,
  validTo: token.validTo,
  scheduledExpireTime: token.scheduledEnd,
  valid,
  apiKeyIdentifier,
  ...homeOf(parent, accountId),
  email: parent.email,
  username: parent.name,
});
export const tokenShape = z.strictObject({
  identifier: z.string(),
  name: z.string(),
  description: z.string(),
  tags: stringMap,
  validFrom: epochMs,
  validTo: epochMs.nullable(),
  scheduledExpireTime: epochMs.nullable(),
  valid: z.boolean(),
  apiKeyIdentifier: z.string(),
  ...homeShape,
  email: z.string(),
  username: z.string(),
});

export const tokenAggregate = (of: TokenOf, accountId: Uuid) => ({
  token: tokenResponse(of, accountId),
  expiryAt: endOf(of.token) ?? null,
  createdAt: of.token.createdAt,
  lastModifiedAt: of.token.updatedAt,
});
export const tokenAggregateShape = z.strictObject({
  token: tokenShape,
  expiryAt: epochMs.nullable().describe("The end that comes first; null: it has none."),
  createdAt: epochMs,
  lastModifiedAt: epochMs,
});
