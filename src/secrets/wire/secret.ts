/** Maps secrets to the shapes of REST. */
import { z } from "zod";
import { isReserved, SECRET_IDENTIFIER } from "../../core/identifier.ts";
import { description, displayName, scopeIdentifier, tags } from "../../platform/document/fields.ts";
import { epochMs, stringMap } from "../../platform/http/response/shapes.ts";
import type { Place } from "../../core/reference.ts";
import type { Secret, SecretFilter, SecretType } from "../secret.ts";
import { sshSpec, sshSpecBody, sshSpecShape } from "./ssh.ts";

const WIRE_TYPES = { ENCRYPTED_TEXT: "SecretText", ENCRYPTED_FILE: "SecretFile", SSH_CREDENTIAL: "SSHKey" } as const;
type RestType = (typeof WIRE_TYPES)[SecretType];
const REST_TYPES = Object.values(WIRE_TYPES);

const TYPES = { SecretText: "ENCRYPTED_TEXT", SecretFile: "ENCRYPTED_FILE", SSHKey: "SSH_CREDENTIAL" } as const;
const typeFrom = (type: RestType): SecretType => TYPES[type];

const managerIdentifier = z
  .string()
  .max(128)
  .nullish()
  // Organizations and projects write `account.x`, because managers belong to the account.
  .transform((text) => text?.replace(/^account\./, "") ?? undefined);

const common = {
  name: displayName,
  identifier: z
    .string()
    .regex(SECRET_IDENTIFIER, "must begin with a letter or _ and hold letters, digits, _, $ and - only, 128 at most")
    .refine((text) => !isReserved(text), { error: "is a reserved word" }),
  orgIdentifier: scopeIdentifier.nullish(),
  projectIdentifier: scopeIdentifier.nullish(),
  description,
  tags,
};

const textBody = z.strictObject({
  ...common,
  type: z.literal("SecretText"),
  spec: z.strictObject({
    type: z.enum(["SecretTextSpec"]).optional(),
    secretManagerIdentifier: managerIdentifier,
    valueType: z.enum(["Inline"], { error: "takes Inline: the platform keeps the value itself" }).optional(),
    value: z.string().nullish(),
  }),
});

const sshBody = z.strictObject({ ...common, type: z.literal("SSHKey"), spec: sshSpecBody });

export const secretBody = z.discriminatedUnion("type", [textBody, sshBody], {
  error: "takes SecretText and SSHKey; a SecretFile goes to /files, and no other type is supported",
});

/** The document in the form part `spec` of a secret file. */
export const fileBody = z.strictObject({
  ...common,
  type: z.enum(["SecretFile"], { error: "takes SecretFile; a SecretText and an SSHKey go to /ng/api/v2/secrets" }),
  spec: z
    .strictObject({
      type: z.enum(["SecretFileSpec"]).optional(),
      secretManagerIdentifier: managerIdentifier,
    })
    .nullish(),
});

/** The value of a text is null in every answer. */
export const secretResponse = (secret: Secret) => ({
  secret: {
    type: WIRE_TYPES[secret.type],
    name: secret.name,
    identifier: secret.identifier,
    orgIdentifier: secret.orgIdentifier,
    projectIdentifier: secret.projectIdentifier,
    tags: secret.tags,
    description: secret.description,
    owner: null,
    spec: secret.ssh
      ? sshSpec(secret.ssh)
      : {
          secretManagerIdentifier: secret.managerIdentifier,
          ...(secret.type === "ENCRYPTED_TEXT" ? { valueType: "Inline", value: null } : {}),
          additionalMetadata: null,
        },
  },
  createdAt: secret.createdAt,
  updatedAt: secret.updatedAt,
  draft: false,
  governanceMetadata: null,
});

export const secretShape = z.strictObject({
  secret: z.strictObject({
    type: z.enum(REST_TYPES),
    name: z.string(),
    identifier: z.string(),
    orgIdentifier: z.string().nullable(),
    projectIdentifier: z.string().nullable(),
    tags: stringMap,
    description: z.string(),
    owner: z.null(),
    spec: z.union([
      z.strictObject({
        secretManagerIdentifier: z.string(),
        valueType: z.literal("Inline").optional().describe("Texts only."),
        value: z.null().optional().describe("Texts only. No answer has a value."),
        additionalMetadata: z.null(),
      }),
      sshSpecShape,
    ]),
  }),
  createdAt: epochMs,
  updatedAt: epochMs,
  draft: z.boolean(),
  governanceMetadata: z.null(),
});

/** The types in requests. No secret has the last one. */
export const ASKED_TYPES = [...REST_TYPES, "WinRmCredentials"] as const;

/** The filter of POST `/list`. */
export const filterBody = z.strictObject({
  filterType: z.enum(["Secret"]).nullish(),
  searchTerm: z.string().max(256).nullish(),
  secretTypes: z.array(z.enum(ASKED_TYPES)).max(10).nullish(),
  identifiers: z.array(z.string().max(128)).max(1_000).nullish(),
  secretIdentifier: z.string().max(128).nullish(),
  secretName: z.string().max(128).nullish(),
  secretManagerIdentifiers: z.array(z.string().max(128)).max(100).nullish(),
  description: z.string().max(1_024).nullish(),
  tags: stringMap.nullish(),
  sourceCategory: z.null({ error: "is not supported" }).optional(),
  includeSecretsFromEverySubScope: z.literal(false, { error: "may only be false" }).nullish(),
  includeAllSecretsAccessibleAtScope: z.literal(false, { error: "may only be false" }).nullish(),
});

type FilterBody = z.output<typeof filterBody>;

/** An empty list is the same as a missing one. Unsupported types match nothing. */
export const filterOf = (place: Place, body: Partial<FilterBody>): SecretFilter => ({
  ...place,
  types: body.secretTypes?.length
    ? body.secretTypes.flatMap((type) => (isSupported(type) ? [typeFrom(type)] : []))
    : null,
  identifiers: identifiersOf(body),
  search: body.searchTerm ?? "",
  name: body.secretName ?? null,
  managers: some(body.secretManagerIdentifiers)?.map((one) => one.replace(/^account\./, "")) ?? null,
  description: body.description ?? null,
  tags: body.tags && Object.keys(body.tags).length > 0 ? body.tags : null,
});

const some = <T>(list: readonly T[] | null | undefined): readonly T[] | undefined =>
  list && list.length > 0 ? list : undefined;

/** Combines `identifiers` and `secretIdentifier`. */
function identifiersOf({ identifiers, secretIdentifier: one }: Partial<FilterBody>): readonly string[] | null {
  const many = some(identifiers);
  if (one === null || one === undefined) return many ?? null;
  return many && !many.includes(one) ? [] : [one];
}

const isSupported = (type: string): type is RestType => type in TYPES;
