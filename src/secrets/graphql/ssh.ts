/** SSH credentials in GraphQL. Unsupported login types are in the schema and rejected by name. */
import { z } from "zod";
import { validateValue } from "../../platform/document/validate.ts";
import type { Builder, InterfaceNodeRef } from "../../platform/graphql/builder.ts";
import { problem } from "../problems.ts";
import type { Maybe } from "../wire/usage-scope.ts";
import type { Secret } from "../secret.ts";
import { DEFAULT_PORT, port, unsupported, userName, type SecretName, type SshLogin } from "../ssh/login.ts";

type Scheme = "SSH" | "KERBEROS";
type Method = "PASSWORD" | "SSH_KEY" | "SSH_KEY_FILE_PATH";

type MethodInput = Maybe<{
  readonly sshCredentialType?: Maybe<Method>;
  readonly inlineSSHKey?: Maybe<{
    readonly sshKeySecretFileId?: Maybe<string>;
    readonly passphraseSecretId?: Maybe<string>;
  }>;
  readonly serverPassword?: Maybe<{ readonly passwordSecretId?: Maybe<string> }>;
  readonly sshKeyFile?: Maybe<object>;
}>;

export type SshInput = {
  readonly authenticationScheme?: Maybe<Scheme>;
  readonly sshAuthentication?: Maybe<{
    readonly port?: Maybe<number>;
    readonly userName?: Maybe<string>;
    readonly sshAuthenticationMethod?: MethodInput;
  }>;
  readonly kerberosAuthentication?: Maybe<object>;
};

/** Adds `SSHCredential` and the union of its login types. */
export function addSshTypes(builder: Builder, SecretRef: InterfaceNodeRef<Secret>): void {
  const Ssh = builder.objectRef<SshLogin>("SSHAuthentication").implement({
    fields: (t) => ({ port: t.exposeInt("port"), userName: t.exposeString("userName") }),
  });
  const Kerberos = builder
    .objectRef<{ readonly port: number; readonly principal: string; readonly realm: string }>("KerberosAuthentication")
    .implement({
      description: "No secret has it: such credentials are refused.",
      fields: (t) => ({
        port: t.exposeInt("port"),
        principal: t.exposeString("principal"),
        realm: t.exposeString("realm"),
      }),
    });
  const Authentication = builder.unionType("SSHAuthenticationType", {
    types: [Ssh, Kerberos],
    resolveType: () => "SSHAuthentication",
  });
  builder.objectRef<Secret>("SSHCredential").implement({
    interfaces: [SecretRef],
    fields: (t) => ({
      authenticationType: t.field({
        type: Authentication,
        resolve: ({ ssh, identifier }) => {
          if (!ssh) throw new Error(`the secret ${identifier} is no SSH credential`);
          return ssh;
        },
      }),
    }),
  });
}

/** Adds the input types of credentials. */
export function addSshInputs(builder: Builder) {
  const Scheme = builder.enumType("SSHAuthenticationScheme", { values: ["SSH", "KERBEROS"] as const });
  return { Scheme, Ssh: sshInput(builder), Kerberos: kerberosInput(builder) };
}

function sshInput(builder: Builder) {
  const Method = builder.enumType("SSHCredentialType", {
    values: ["PASSWORD", "SSH_KEY", "SSH_KEY_FILE_PATH"] as const,
  });
  const InlineKey = builder.inputType("InlineSSHKeyInput", {
    fields: (t) => ({
      sshKeySecretFileId: t.string({ required: true, description: "An encrypted file with the private key." }),
      passphraseSecretId: t.string({ description: "An encrypted text." }),
    }),
  });
  const Password = builder.inputType("SSHPasswordInput", {
    fields: (t) => ({ passwordSecretId: t.string({ required: true, description: "An encrypted text." }) }),
  });
  const KeyFile = builder.inputType("SSHKeyFileInput", {
    description: "Not supported: keys are kept here.",
    fields: (t) => ({ path: t.string(), passphraseSecretId: t.string() }),
  });
  const HowTo = builder.inputType("SSHAuthenticationMethodInput", {
    description: "The type, and the one object that belongs to it.",
    fields: (t) => ({
      sshCredentialType: t.field({ type: Method, required: true }),
      inlineSSHKey: t.field({ type: InlineKey }),
      serverPassword: t.field({ type: Password }),
      sshKeyFile: t.field({ type: KeyFile }),
    }),
  });
  return builder.inputType("SSHAuthenticationInput", {
    fields: (t) => ({
      port: t.int({ description: "22 unless given." }),
      userName: t.string({ required: true }),
      sshAuthenticationMethod: t.field({ type: HowTo, required: true }),
    }),
  });
}

function kerberosInput(builder: Builder) {
  const Using = builder.enumType("TGTGenerationUsing", { values: ["KEY_TAB_FILE", "PASSWORD"] as const });
  const KeyTab = builder.inputType("KeyTabFileInput", { fields: (t) => ({ filePath: t.string() }) });
  const Password = builder.inputType("KerberosPasswordInput", { fields: (t) => ({ passwordSecretId: t.string() }) });
  const Generation = builder.inputType("TGTGenerationMethodInput", {
    fields: (t) => ({
      tgtGenerationUsing: t.field({ type: Using }),
      keyTabFile: t.field({ type: KeyTab }),
      kerberosPassword: t.field({ type: Password }),
    }),
  });
  return builder.inputType("KerberosAuthenticationInput", {
    description: "Not supported.",
    fields: (t) => ({
      principal: t.string(),
      realm: t.string(),
      port: t.int(),
      tgtGenerationMethod: t.field({ type: Generation }),
    }),
  });
}

/** Repeats the path of the arguments, so that messages name it. */
const fields = z.strictObject({
  sshCredential: z.strictObject({ sshAuthentication: z.strictObject({ port, userName }) }),
});

/** Whether a change includes a login. The scheme SSH alone changes nothing. */
export const hasLogin = ({ authenticationScheme, sshAuthentication, kerberosAuthentication }: SshInput): boolean =>
  Boolean(sshAuthentication ?? kerberosAuthentication) || authenticationScheme === "KERBEROS";

/** Returns the complete login, also for a change. Throws `secret.unsupported_login`. */
export function loginOf({
  authenticationScheme,
  sshAuthentication,
  kerberosAuthentication,
}: SshInput): SshLogin<SecretName> {
  if (authenticationScheme === "KERBEROS" || kerberosAuthentication) throw unsupported("KERBEROS");
  if (!sshAuthentication) throw problem("secret.input_missing", ["sshCredential.sshAuthentication", "SSH_CREDENTIAL"]);
  const { port: given, userName: user, sshAuthenticationMethod: method } = sshAuthentication;
  const asked = { port: given ?? DEFAULT_PORT, userName: user ?? "" };
  const { sshCredential } = validateValue(fields, { sshCredential: { sshAuthentication: asked } });
  return { ...sshCredential.sshAuthentication, auth: authOf(method) };
}

const WHERE = "sshAuthenticationMethod";
const OBJECTS = { PASSWORD: "serverPassword", SSH_KEY: "inlineSSHKey", SSH_KEY_FILE_PATH: "sshKeyFile" } as const;

function authOf(method: MethodInput): SshLogin<SecretName>["auth"] {
  const type = method?.sshCredentialType;
  if (!method || !type) throw problem("secret.input_missing", [`${WHERE}.sshCredentialType`, "SSH_CREDENTIAL"]);
  const other = Object.values(OBJECTS).find((name) => name !== OBJECTS[type] && method[name]);
  if (type === "SSH_KEY_FILE_PATH" || other === "sshKeyFile") throw unsupported("SSH_KEY_FILE_PATH");
  if (other) throw problem("secret.bad_input", [`${WHERE}.${other}`, `SSH_CREDENTIAL with ${type}`]);
  const named = (object: string, id: Maybe<string>): SecretName => {
    if (id) return { by: "id", id };
    throw problem("secret.input_missing", [`${WHERE}.${object}`, `SSH_CREDENTIAL with ${type}`]);
  };
  if (type === "PASSWORD")
    return { kind: "password", password: named("serverPassword", method.serverPassword?.passwordSecretId) };
  const { sshKeySecretFileId, passphraseSecretId } = method.inlineSSHKey ?? {};
  return {
    kind: "key",
    key: named("inlineSSHKey", sshKeySecretFileId),
    passphrase: passphraseSecretId ? { by: "id", id: passphraseSecretId } : null,
  };
}
