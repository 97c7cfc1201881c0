/**
 * A real container registry for tests: Debian's package docker-registry. Root on Debian installs it if it is missing;
 * other users skip the tests that need it.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingDebianPackage } from "./debian.ts";

const PROGRAM = "/usr/bin/docker-registry";

/** Returns the reason to skip the test, or undefined if the program exists. */
export const registryIsMissing = (): Promise<string | undefined> =>
  missingDebianPackage([PROGRAM], ["docker-registry"]);

export type Registry = { readonly url: string; readonly folder: string; readonly stop: () => Promise<void> };

/** The user `ada` with the password "correct horse", also as an htpasswd entry. */
export const USER = { name: "ada", password: "correct horse" } as const;
const HTPASSWD = "ada:$2y$05$UQSmaoarGIhjCY8NSXgVIegYeddwclEITJtbcTjhQlIhJErZ2OnM2\n";

export type RegistryAuth =
  | { readonly kind: "none" | "password" }
  /** Accepts the tokens of `realm`; `certificate` is the file with the certificate of the signing key. */
  | { readonly kind: "token"; readonly realm: string; readonly certificate: string };

/** Starts a registry on a free local port. */
export async function startRegistry(auth: RegistryAuth = { kind: "none" }): Promise<Registry> {
  const folder = await mkdtemp(join(tmpdir(), "railhead-test-registry-"));
  await writeFile(join(folder, "htpasswd"), HTPASSWD);
  await writeFile(join(folder, "config.yml"), JSON.stringify(configOf(folder, auth)));
  const child = spawn(PROGRAM, ["serve", join(folder, "config.yml")], { stdio: ["ignore", "pipe", "pipe"], env: {} });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  let said = "";
  const port = await new Promise<string>((resolve, reject) => {
    const hear = (data: Buffer): void => {
      said += data.toString();
      const found = /listening on (?:127\.0\.0\.1|\[::\]):(\d+)/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    void exited.then(() => reject(new Error(`the registry ended: ${said}`)));
  }).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { url: `http://127.0.0.1:${port}/v2/`, folder, stop };
}

export const TOKEN_SERVICE = "registry.test";
export const TOKEN_ISSUER = "tokens.test";

// JSON is valid YAML.
const configOf = (folder: string, auth: RegistryAuth) => ({
  version: 0.1,
  log: { level: "info", accesslog: { disabled: true } },
  storage: { filesystem: { rootdirectory: join(folder, "images") } },
  http: { addr: "127.0.0.1:0", secret: "of no use here" },
  ...(auth.kind === "password"
    ? { auth: { htpasswd: { realm: "test", path: join(folder, "htpasswd") } } }
    : auth.kind === "token"
      ? {
          auth: {
            token: {
              realm: auth.realm,
              service: TOKEN_SERVICE,
              issuer: TOKEN_ISSUER,
              rootcertbundle: auth.certificate,
            },
          },
        }
      : {}),
});
