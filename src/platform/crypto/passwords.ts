/** Passwords at rest: argon2id (RFC 9106) in the PHC text form. */
import { argon2, randomBytes } from "node:crypto";
import { promisify } from "node:util";

const derive = promisify(argon2);
// OWASP's first choice for argon2id: 19 MiB, two passes, one lane.
const COST = { memory: 19 * 1024, passes: 2, parallelism: 1, tagLength: 32 } as const;

export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await derive("argon2id", { message: password, nonce, ...COST });
  const b64 = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
  return `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${b64(nonce)}$${b64(tag)}`;
}
