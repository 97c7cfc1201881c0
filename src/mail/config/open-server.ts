import type { Uuid } from "../../core/ids.ts";
import type { Sealer } from "../../platform/crypto/seal.ts";
import { UnknownRootKey } from "../../platform/crypto/seal.ts";
import type { SmtpServer } from "../smtp/smtp-server.ts";
import { sealIdentity, type StoredSmtpConfig } from "./smtp-config.ts";

/** Returns the server of a configuration with its password, or why the password cannot be opened. */
export function openServer(
  sealer: Sealer,
  accountId: Uuid,
  config: StoredSmtpConfig,
): SmtpServer | { readonly fault: string } {
  const { host, port, security, username, passwordSealed } = config;
  const server = { host, port, security };
  if (username === null || passwordSealed === null) return { ...server, login: null };
  try {
    return { ...server, login: { username, password: sealer.open(passwordSealed, sealIdentity(accountId)) } };
  } catch (error) {
    if (!(error instanceof UnknownRootKey)) throw error;
    return { fault: `The password of the SMTP configuration needs the root key ${error.keyId}, which was not given.` };
  }
}
