/** Maps the login of an SSH credential to the REST shape: `port`, and `auth` with its type and spec. */
import { z } from "zod";
import { DEFAULT_PORT, port, unsupported, userName, type SecretName, type SshLogin } from "../ssh/login.ts";

const reference = z.string().min(1).max(256);
const maybeReference = reference.nullish().transform((text) => text ?? null);

const method = z.discriminatedUnion("credentialType", [
  z.strictObject({
    credentialType: z.literal("KeyReference"),
    spec: z.strictObject({ userName, key: reference, encryptedPassphrase: maybeReference }),
  }),
  z.strictObject({
    credentialType: z.literal("Password"),
    spec: z.strictObject({ userName, password: reference }),
  }),
  z.looseObject({ credentialType: z.literal("KeyPath") }),
]);

export const sshSpecBody = z.strictObject({
  port: port.nullish().transform((given) => given ?? DEFAULT_PORT),
  auth: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("SSH"), spec: method }),
    z.looseObject({ type: z.literal("Kerberos") }),
  ]),
});

const named = (text: string): SecretName => ({ by: "reference", reference: text });

/** Maps a request to a login. Throws `secret.unsupported_login`. */
export function loginIn({ port: at, auth }: z.output<typeof sshSpecBody>): SshLogin<SecretName> {
  if (auth.type === "Kerberos") throw unsupported("KERBEROS", "Kerberos");
  const { spec: credential } = auth;
  switch (credential.credentialType) {
    case "KeyPath":
      throw unsupported("SSH_KEY_FILE_PATH", "KeyPath");
    case "Password": {
      const { userName: user, password } = credential.spec;
      return { port: at, userName: user, auth: { kind: "password", password: named(password) } };
    }
    case "KeyReference": {
      const { userName: user, key, encryptedPassphrase } = credential.spec;
      const passphrase = encryptedPassphrase === null ? null : named(encryptedPassphrase);
      return { port: at, userName: user, auth: { kind: "key", key: named(key), passphrase } };
    }
  }
}

export const sshSpecShape = z.strictObject({
  port: z.int(),
  auth: z.strictObject({
    type: z.literal("SSH"),
    spec: z.union([
      z.strictObject({
        credentialType: z.literal("KeyReference"),
        spec: z.strictObject({ userName: z.string(), key: z.string(), encryptedPassphrase: z.string().nullable() }),
      }),
      z.strictObject({
        credentialType: z.literal("Password"),
        spec: z.strictObject({ userName: z.string(), password: z.string() }),
      }),
    ]),
  }),
});

/** Maps a login to an answer. Its secrets are references. */
export function sshSpec({ port: at, userName: user, auth }: SshLogin): z.output<typeof sshSpecShape> {
  const credential =
    auth.kind === "password"
      ? ({ credentialType: "Password", spec: { userName: user, password: auth.password } } as const)
      : ({
          credentialType: "KeyReference",
          spec: { userName: user, key: auth.key, encryptedPassphrase: auth.passphrase },
        } as const);
  return { port: at, auth: { type: "SSH", spec: credential } };
}
