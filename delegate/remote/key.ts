/**
 * Normalizes the private key of a login for ssh. The server stores a secret byte for byte. Changes by editors and forms
 * (line ends, byte order mark, surrounding text) are undone in the step's copy only.
 */
import { closeSync, constants, fchmodSync, writeFileSync } from "node:fs";
import { UnusableInputError } from "../fault.ts";
import { openForWriting, openRegular, readLimitedFile } from "../regular-file.ts";

/** Limit of a key file in ssh, in bytes. */
const MAX_KEY = 1024 * 1024;
const BEGIN = /^-----BEGIN ((?:[A-Z0-9 ]{1,64} )?PRIVATE KEY)-----$/m;
const PUBLIC =
  /^(?:(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-\S+ AAAA|-----BEGIN (?:[A-Z0-9 ]{1,64} )?PUBLIC KEY-----|---- BEGIN SSH2 PUBLIC KEY)/m;
const MAGIC = "openssh-key-v1\0";

/**
 * Rewrites the file in ssh's format. `label` names the secret in messages.
 * @throws UnusableInputError for a file that is no key for this login; the system's error
 */
export function normalizeKey(file: string, label: string, hasPassphrase: boolean): void {
  const refuse = (why: string): UnusableInputError =>
    new UnusableInputError(`the key of its SSH credential, the secret [${label}], ${why}`);
  const bytes = readLimitedFile(file, MAX_KEY);
  if (bytes === "tooLarge") throw refuse(`has more than ${MAX_KEY / 1024} KiB: ssh reads no such key`);
  if (!bytes) throw new Error(`${file} cannot be read, or is no regular file`);
  const given = bytes.toString("latin1");
  const key = extractPrivateKey(given);
  if (typeof key === "object") throw refuse(key.fault);
  if (!hasPassphrase && isEncrypted(key)) throw refuse("is encrypted, and the credential names no passphrase");
  if (key === given) return;
  setMode(file, 0o600);
  const fd = openForWriting(file, constants.O_WRONLY | constants.O_TRUNC);
  try {
    writeFileSync(fd, key, "latin1");
    fchmodSync(fd, 0o400);
  } finally {
    closeSync(fd);
  }
}

function setMode(file: string, mode: number): void {
  const opened = openRegular(file);
  if (!opened) throw new Error(`${file} is no regular file`);
  try {
    fchmodSync(opened.fd, mode);
  } finally {
    closeSync(opened.fd);
  }
}

/** The key from its first line to its last, with line feeds; or why the text is no private key. */
export function extractPrivateKey(given: string): string | { readonly fault: string } {
  const text = given.replaceAll(/\r\n?/g, "\n").replace(/^\xEF\xBB\xBF/, "");
  const begin = BEGIN.exec(text);
  if (!begin) return { fault: describeOtherContent(text) };
  const last = `\n-----END ${begin[1]}-----`;
  const end = text.indexOf(last, begin.index);
  if (end < 0) return { fault: `is cut off: it has no line${last.replace("\n", " ")}` };
  return `${text.slice(begin.index, end + last.length)}\n`;
}

function describeOtherContent(text: string): string {
  if (text.startsWith("PuTTY-User-Key-File-"))
    return "has the form of PuTTY, which ssh does not read; puttygen writes it in ssh's with: -O private-openssh";
  if (PUBLIC.test(text)) return "is a public key; ssh logs in with the private one";
  return "is no private key: it has no line -----BEGIN … PRIVATE KEY-----";
}

/** Whether the key is encrypted, by the headers of ssh's format and both PEM formats. */
export function isEncrypted(key: string): boolean {
  const [first = "", ...rest] = key.split("\n");
  if (first === "-----BEGIN ENCRYPTED PRIVATE KEY-----" || rest[0] === "Proc-Type: 4,ENCRYPTED") return true;
  if (first !== "-----BEGIN OPENSSH PRIVATE KEY-----") return false;
  const body = Buffer.from(rest.slice(0, -2).join(""), "base64");
  // The name of the cipher follows, after its length in four bytes (PROTOCOL.key of OpenSSH). ssh reports a damaged
  // key.
  const cipher = body.subarray(MAGIC.length + 4, MAGIC.length + 8).toString("latin1");
  return body.toString("latin1", 0, MAGIC.length) === MAGIC && cipher !== "none";
}
