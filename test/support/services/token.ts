/** A PKCS#11 token for tests: Debian's SoftHSM and OpenSC's pkcs11-tool in place of a hardware token. */
import { execFile } from "node:child_process";
import { constants, publicEncrypt } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { missingDebianPackage } from "./debian.ts";

const run = promisify(execFile);
const MODULE = "/usr/lib/softhsm/libsofthsm2.so";
const TOOL = "/usr/bin/pkcs11-tool";

/** Returns the reason to skip the test, or undefined if the programs exist. */
export const tokenIsMissing = (): Promise<string | undefined> =>
  missingDebianPackage([MODULE, TOOL, "/usr/bin/softhsm2-util"], ["softhsm2", "opensc"]);

export type Token = {
  readonly folder: string;
  /** Environment variables for the tool, including the correct PIN. */
  readonly env: Readonly<Record<string, string>>;
  /** Encrypts with the public key of the token's private key and returns the command that decrypts the file. */
  readonly protect: (name: string, plain: Buffer) => Promise<string>;
  readonly remove: () => Promise<void>;
};

const PIN = "482613";

export async function createToken(): Promise<Token> {
  const folder = await mkdtemp(join(tmpdir(), "railhead-token-"));
  await mkdir(join(folder, "tokens"));
  await writeFile(
    join(folder, "softhsm2.conf"),
    `directories.tokendir = ${join(folder, "tokens")}\nlog.level = ERROR\n`,
  );
  const env = { SOFTHSM2_CONF: join(folder, "softhsm2.conf"), TOKEN_PIN: PIN };
  const withEnv = { env: { ...process.env, ...env } };
  await run(
    "softhsm2-util",
    ["--init-token", "--free", "--label", "railhead", "--pin", PIN, "--so-pin", "9".repeat(6)],
    withEnv,
  );
  const login = ["--module", MODULE, "--token-label", "railhead", "--login", "--pin", "env:TOKEN_PIN"];
  await run(TOOL, [...login, "--keypairgen", "--key-type", "rsa:2048", "--label", "railhead", "--id", "01"], withEnv);
  const publicKey = join(folder, "public.der");
  await run(TOOL, [...login, "--read-object", "--type", "pubkey", "--id", "01", "--output-file", publicKey], withEnv);
  const key = { key: await readFile(publicKey), format: "der", type: "spki" } as const;
  return {
    folder,
    env,
    protect: async (name, plain) => {
      const path = join(folder, name);
      const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha1" };
      await writeFile(path, publicEncrypt({ ...key, ...padding }, plain));
      const how = ["--decrypt", "--mechanism", "RSA-PKCS-OAEP", "--hash-algorithm", "SHA-1", "--id", "01"];
      return [TOOL, ...login, ...how, "--input-file", path].join(" ");
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Returns the command that an operator writes for RAILHEAD_SECRET_COMMANDS: it wraps and unwraps with the token. */
export function wrappingProgram({ folder, env }: Token, pin = PIN): string[] {
  const path = join(folder, `wrap-${pin}`);
  const login = `--module ${MODULE} --token-label railhead --login --pin env:TOKEN_PIN`;
  const oaep = "--mechanism RSA-PKCS-OAEP --hash-algorithm SHA-1 --id 01";
  writeFileSync(
    path,
    `#!/bin/sh
set -eu
export SOFTHSM2_CONF='${env["SOFTHSM2_CONF"]}' TOKEN_PIN='${pin}'
field() { sed -n 's/.*"'"$1"'":"\\([^"]*\\)".*/\\1/p'; }
request=$(cat)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case "$1" in
wrap)
  wrapped=$(printf %s "$request" | field key | base64 -d |
    openssl pkeyutl -encrypt -pubin -keyform DER -inkey '${folder}/public.der' -pkeyopt rsa_padding_mode:oaep | base64 -w0)
  printf '{"keyId":"01","wrapped":"%s"}\\n' "$wrapped" ;;
unwrap)
  printf %s "$request" | field wrapped | base64 -d > "$work/in"
  ${TOOL} ${login} --decrypt ${oaep} --input-file "$work/in" --output-file "$work/out" > /dev/null
  printf '{"key":"%s"}\\n' "$(base64 -w0 < "$work/out")" ;;
esac
`,
    { mode: 0o700 },
  );
  return [path];
}
