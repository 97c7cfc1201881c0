/** Passwords at rest: argon2id (RFC 9106) in the PHC text form. */
import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const derive = promisify(argon2);

type Cost = { readonly memory: number; readonly passes: number; readonly parallelism: number };

// OWASP's first choice for argon2id: 19 MiB, two passes, one lane. Raising it is enough: who signs in gets a new hash.
export const COST: Cost = { memory: 19 * 1024, passes: 2, parallelism: 1 };
const TAG_BYTES = 32;

/** The PHC text with a new salt. A call needs 19 MiB of memory by default. */
export async function hashPassword(password: string, cost: Cost = COST): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await derive("argon2id", { message: plain(password), nonce, tagLength: TAG_BYTES, ...cost });
  const b64 = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${b64(nonce)}$${b64(tag)}`;
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Compared against without a hash, so that both cases take equally long. */
const NOBODY = { cost: COST, nonce: randomBytes(16), tag: randomBytes(TAG_BYTES) };

function parsed(storedHash: string | undefined): typeof NOBODY | undefined {
  const [, memory, passes, parallelism, nonce = "", tag = ""] = PHC.exec(storedHash ?? "") ?? [];
  if (memory === undefined) return undefined;
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    nonce: Buffer.from(nonce, "base64"),
    tag: Buffer.from(tag, "base64"),
  };
}

/** Whether the password matches the hash. `undefined` or a malformed hash never matches and takes equally long. */
export async function passwordMatches(password: string, storedHash: string | undefined): Promise<boolean> {
  const found = parsed(storedHash);
  const { cost, nonce, tag } = found ?? NOBODY;
  const made = await derive("argon2id", { message: plain(password), nonce, tagLength: tag.length, ...cost });
  return timingSafeEqual(made, tag) && found !== undefined;
}

/** Whether the hash was created with weaker parameters than the current ones. */
export function isOutdated(storedHash: string): boolean {
  const cost = parsed(storedHash)?.cost;
  return !cost || cost.memory < COST.memory || cost.passes < COST.passes || cost.parallelism < COST.parallelism;
}

/** Normalizes the text, so that the same letters are the same bytes for every keyboard. */
const plain = (password: string): string => password.normalize("NFC");
