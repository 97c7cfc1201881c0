/** Access to a Kubernetes API server: its address and the credentials in the form that TLS and HTTP take. */
import { createPrivateKey, X509Certificate, type KeyObject } from "node:crypto";
import { Unreached } from "../../platform/outgoing/unreached.ts";

export type ClusterAccess = {
  readonly server: string;
  /** PEM certificates that the server's one is checked with; undefined for those of the system. */
  readonly ca: string | undefined;
  readonly credential:
    | { readonly kind: "token"; readonly token: string }
    | { readonly kind: "certificate"; readonly certificate: string; readonly key: string };
};

/** A text from a secret or a file. `source` names it in messages. */
export type AccessText = { readonly source: string; readonly text: string };

const invalid = (message: string): Unreached => new Unreached("Credentials", message);

/** Returns the token without surrounding blanks. Throws Unreached if an HTTP header cannot hold it. */
export function parseToken({ source, text }: AccessText): string {
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw invalid(`${source} contains no token of a service account.`);
  return token;
}

/** Returns the PEM certificates. Throws Unreached if one does not parse. */
export function parseCertificates({ source, text }: AccessText): string {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw invalid(`${source} contains no certificate in PEM format.`);
  for (const block of blocks) {
    try {
      void new X509Certificate(block);
    } catch {
      throw invalid(`${source} contains a certificate that cannot be read.`);
    }
  }
  return `${blocks.join("\n")}\n`;
}

export type KeyAlgorithm = "RSA" | "EC";

export type ClientKeyText = {
  readonly certificate: AccessText;
  readonly key: AccessText;
  readonly passphrase: string | undefined;
  /** Undefined accepts every algorithm. */
  readonly algorithm: KeyAlgorithm | undefined;
};

/**
 * Returns certificate and private key in PEM. The key is no longer encrypted, because kubectl reads no encrypted keys.
 * Throws Unreached for an unreadable key, and for one that does not belong to the certificate.
 */
export function parseClientKey({
  certificate,
  key,
  passphrase,
  algorithm,
}: ClientKeyText): ClusterAccess["credential"] {
  const chain = parseCertificates(certificate);
  const privateKey = readKey(key, passphrase);
  const found = privateKey.asymmetricKeyType?.toUpperCase();
  if (algorithm !== undefined && found !== algorithm)
    throw invalid(`${key.source} contains a key of type ${found}, not ${algorithm} as clientKeyAlgo says.`);
  if (!new X509Certificate(chain).checkPrivateKey(privateKey))
    throw invalid(`${key.source} contains another key than the one of ${uncapitalized(certificate.source)}.`);
  return {
    kind: "certificate",
    certificate: chain,
    key: privateKey.export({ type: "pkcs8", format: "pem" }),
  };
}

function readKey({ source, text }: AccessText, passphrase: string | undefined): KeyObject {
  try {
    return createPrivateKey({ key: text, format: "pem", ...(passphrase === undefined ? {} : { passphrase }) });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const isEncrypted = code === "ERR_MISSING_PASSPHRASE" || /ENCRYPTED/.test(text);
    throw invalid(
      isEncrypted
        ? `${source} contains a key that the given passphrase does not decrypt.`
        : `${source} contains no private key in PEM format.`,
    );
  }
}

const uncapitalized = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
