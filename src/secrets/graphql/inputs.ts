/** GraphQL input types of secrets, and their mapping to operations. */
import { z } from "zod";
import { fromWire } from "../../core/ids.ts";
import { contentOf, type Content } from "../../platform/crypto/chunks.ts";
import { displayName } from "../../platform/document/fields.ts";
import { validateValue } from "../../platform/document/validate.ts";
import type { Builder } from "../../platform/graphql/builder.ts";
import { addSshInputs, hasLogin, loginOf, type SshInput } from "./ssh.ts";
import type { FilterEnums, SecretTypes } from "./types.ts";
import type { NewSecret } from "../create.ts";
import type { ManagerName } from "../managers/manager.ts";
import { problem } from "../problems.ts";
import { scopeOf, type Maybe, type ScopeInput } from "../wire/usage-scope.ts";
import type { ScopingInput } from "../scope/scoping.ts";
import { identifierBeside, identifierFrom, type RequestedType, type SecretType } from "../secret.ts";
import type { SecretChanges } from "../update.ts";

type EncryptedInput = {
  readonly name?: Maybe<string>;
  readonly secretManagerId?: Maybe<string>;
  readonly value?: Maybe<string>;
  readonly secretReference?: Maybe<string>;
  readonly usageScope?: Maybe<ScopeInput>;
  readonly scopedToAccount?: Maybe<boolean>;
  readonly inheritScopesFromSM?: Maybe<boolean>;
};

type CredentialInput = SshInput & Pick<EncryptedInput, "name" | "usageScope">;

export type SecretInput = {
  readonly secretType: RequestedType;
  readonly encryptedText?: Maybe<EncryptedInput>;
  readonly encryptedFile?: Maybe<EncryptedInput>;
  readonly sshCredential?: Maybe<CredentialInput>;
};

export function addInputs(builder: Builder, { SecretType, filters }: Pick<SecretTypes, "SecretType" | "filters">) {
  const Scope = scopeInput(builder, filters);
  const encrypted = (name: string, isNew: boolean) =>
    builder.inputType(name, {
      fields: (t) => ({
        name: t.string({ required: isNew }),
        secretManagerId: t.string({ description: "The built-in secret manager unless given; stays what it is." }),
        value: t.string({ description: "Of a file: its content, when no file is sent." }),
        secretReference: t.string({ description: "Not supported: the content is kept here." }),
        usageScope: t.field({ type: Scope }),
        scopedToAccount: t.boolean(),
        inheritScopesFromSM: t.boolean({ description: "Wins over usageScope." }),
      }),
    });
  const { Scheme, Ssh, Kerberos } = addSshInputs(builder);
  const credential = (name: string, isNew: boolean) =>
    builder.inputType(name, {
      fields: (t) => ({
        name: t.string({ required: isNew }),
        authenticationScheme: t.field({ type: Scheme, description: "SSH unless given." }),
        sshAuthentication: t.field({
          type: Ssh,
          description: "Needed to create one. In an update: all of it, or nothing, and the login stays as it is.",
        }),
        kerberosAuthentication: t.field({ type: Kerberos, description: "Not supported." }),
        usageScope: t.field({ type: Scope, description: "That of the built-in secret manager where it is null." }),
      }),
    });
  const Create = builder.inputType("CreateSecretInput", {
    fields: (t) => ({
      clientMutationId: t.string(),
      secretType: t.field({ type: SecretType, required: true }),
      encryptedText: t.field({ type: encrypted("EncryptedTextInput", true) }),
      encryptedFile: t.field({ type: encrypted("EncryptedFileInput", true) }),
      sshCredential: t.field({ type: credential("SSHCredentialInput", true) }),
    }),
  });
  const Update = builder.inputType("UpdateSecretInput", {
    fields: (t) => ({
      clientMutationId: t.string(),
      secretId: t.string({ required: true }),
      secretType: t.field({ type: SecretType, required: true }),
      encryptedText: t.field({ type: encrypted("UpdateEncryptedTextInput", false) }),
      encryptedFile: t.field({ type: encrypted("UpdateEncryptedFileInput", false) }),
      sshCredential: t.field({ type: credential("UpdateSSHCredentialInput", false) }),
    }),
  });
  const Delete = builder.inputType("DeleteSecretInput", {
    fields: (t) => ({
      clientMutationId: t.string(),
      secretId: t.string({ required: true }),
      secretType: t.field({ type: SecretType, required: true }),
    }),
  });
  return { Create, Update, Delete };
}

function scopeInput(builder: Builder, filters: FilterEnums) {
  const Application = builder.inputType("AppScopeFilterInput", {
    description: "Either filterType or appId.",
    fields: (t) => ({ filterType: t.field({ type: filters.Application }), appId: t.string() }),
  });
  const Environment = builder.inputType("EnvScopeFilterInput", {
    description: "Either filterType or envId.",
    fields: (t) => ({ filterType: t.field({ type: filters.Environment }), envId: t.string() }),
  });
  const Entry = builder.inputType("AppEnvScopeInput", {
    fields: (t) => ({
      application: t.field({ type: Application, required: true }),
      environment: t.field({ type: Environment, required: true }),
    }),
  });
  return builder.inputType("UsageScopeInput", {
    fields: (t) => ({ appEnvScopes: t.field({ type: [Entry], required: true }) }),
  });
}

/** Throws `secret.unsupported_type`. */
export function typeOf(secretType: RequestedType): SecretType {
  if (secretType !== "WINRM_CREDENTIAL") return secretType;
  throw problem("secret.unsupported_type", [secretType]);
}

/** GraphQL creates secrets in the account scope, with an identifier made from the name. */
export function newSecretOf(input: SecretInput, file: Content | undefined): NewSecret {
  const asked = bodyOf(input);
  const name = nameOf(asked.body) ?? "";
  const common = {
    orgIdentifier: null,
    projectIdentifier: null,
    identifier: identifierFrom(name),
    otherIdentifier: identifierBeside(identifierFrom(name), asked.type),
    name,
    description: "",
    tags: {},
  };
  if (asked.type === "SSH_CREDENTIAL")
    return {
      ...common,
      type: asked.type,
      scoping: credentialScoping(asked.body),
      login: loginOf(asked.body),
    };
  const { type, body } = asked;
  const content = contentIn(type, body, file);
  if (!content)
    throw problem("secret.no_content", [
      name,
      type === "ENCRYPTED_FILE"
        ? "send the part 'file' beside the part 'query', or encryptedFile.value"
        : "encryptedText.value is missing",
    ]);
  return { ...common, type, manager: managerOf(body), scoping: scopingOf(body), content };
}

export function changesOf(input: SecretInput, file: Content | undefined): SecretChanges {
  const asked = bodyOf(input);
  if (asked.type === "SSH_CREDENTIAL") {
    const scoping = asked.body.usageScope === undefined ? undefined : credentialScoping(asked.body);
    return { name: nameOf(asked.body), scoping, login: hasLogin(asked.body) ? loginOf(asked.body) : undefined };
  }
  const { type, body } = asked;
  const { usageScope, scopedToAccount, inheritScopesFromSM } = body;
  const rescoped = usageScope !== undefined || (scopedToAccount ?? inheritScopesFromSM ?? null) !== null;
  return {
    name: nameOf(body),
    manager: managerOf(body),
    scoping: rescoped ? scopingOf(body) : undefined,
    content: contentIn(type, body, file),
  };
}

const OBJECTS = {
  ENCRYPTED_TEXT: "encryptedText",
  ENCRYPTED_FILE: "encryptedFile",
  SSH_CREDENTIAL: "sshCredential",
} as const;

type Asked =
  | { readonly type: "ENCRYPTED_TEXT" | "ENCRYPTED_FILE"; readonly body: EncryptedInput }
  | { readonly type: "SSH_CREDENTIAL"; readonly body: CredentialInput };

/** Returns the input object of the type. Throws `secret.bad_input` if another one is set. */
function bodyOf(input: SecretInput): Asked {
  const type = typeOf(input.secretType);
  const other = Object.values(OBJECTS).find((name) => name !== OBJECTS[type] && input[name]);
  if (other) throw problem("secret.bad_input", [other, type]);
  const missing = (): Error => problem("secret.input_missing", [OBJECTS[type], type]);
  if (type === "SSH_CREDENTIAL") {
    if (!input.sshCredential) throw missing();
    return { type, body: input.sshCredential };
  }
  const body = input[OBJECTS[type]];
  if (!body) throw missing();
  if (body.secretReference) throw problem("secret.no_references");
  return { type, body };
}

const named = z.strictObject({ name: displayName });
const nameOf = ({ name }: Pick<EncryptedInput, "name">): string | undefined =>
  name === null || name === undefined ? undefined : validateValue(named, { name }).name;

/** A file takes precedence. An empty value is ignored, because clients send it together with a file. */
function contentIn(type: SecretType, { value }: EncryptedInput, file: Content | undefined): Content | undefined {
  if (type === "ENCRYPTED_FILE" && file) return file;
  return value ? contentOf(value) : undefined;
}

function managerOf({ secretManagerId }: EncryptedInput): ManagerName | undefined {
  if (secretManagerId === null || secretManagerId === undefined) return undefined;
  const id = fromWire(secretManagerId);
  if (!id) throw problem("secret.no_manager", ["id", secretManagerId]);
  return { by: "id", id };
}

const scopingOf = ({ usageScope, scopedToAccount, inheritScopesFromSM }: EncryptedInput): ScopingInput => ({
  usageScope: usageScope && scopeOf(usageScope),
  scopedToAccount,
  inheritsScope: inheritScopesFromSM,
});

/** A credential without its own usage scope inherits the scope of its manager. */
const credentialScoping = ({ usageScope }: CredentialInput): ScopingInput =>
  usageScope ? { usageScope: scopeOf(usageScope), inheritsScope: false } : { inheritsScope: true };
