/**
 * A real SSH server for tests: Debian's package openssh-server, as a child process on a free port, with a new user that
 * logs in. Only root can check passwords and switch users; other users skip the tests that need it.
 */
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { idsOf, livingProcesses } from "../../../delegate/processes/processes.ts";
import { missingDebianPackage } from "./debian.ts";

const run = promisify(execFile);
const PROGRAM = "/usr/sbin/sshd";

/** Returns the reason to skip the test, or undefined if nothing is missing. */
export async function sshServerIsMissing(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "only root can start an SSH server that logs people in; run the tests as root";
  return missingDebianPackage([PROGRAM, "/usr/bin/ssh-keygen"], ["openssh-server"]);
}

export type SshServer = {
  readonly port: number;
  readonly userName: string;
  readonly password: string;
  /** Home directory of the user. Bash starts there. */
  readonly home: string;
  /** Private keys that may log in. One of them has a passphrase. */
  readonly key: string;
  readonly lockedKey: string;
  readonly passphrase: string;
  /** Returns the line for the known-hosts file. */
  readonly knownHost: () => Promise<string>;
  /** Gives the host another host key. */
  readonly changeKey: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

type Running = { readonly stop: () => Promise<void> };

export async function startSshServer(): Promise<SshServer> {
  const folder = await mkdtemp(join(tmpdir(), "railhead-ssh-server-"));
  await chmod(folder, 0o755);
  const userName = `railhead-${randomBytes(5).toString("hex")}`;
  const [password, passphrase] = [randomBytes(9).toString("base64"), "open sesame, please"];
  const home = join(folder, "home");
  await run("useradd", ["--create-home", "--home-dir", home, "--shell", "/bin/bash", userName]);
  await fed("chpasswd", `${userName}:${password}\n`);
  // The output of start-up files must not become output of a step.
  await writeFile(join(home, ".bashrc"), "echo welcome; echo to this host >&2\n");
  await mkdir("/run/sshd", { recursive: true });
  const port = await freePort();
  const keyAt = async (name: string, phrase: string): Promise<string> => {
    await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", phrase, "-C", name, "-f", join(folder, name)]);
    return readFile(join(folder, name), "utf8");
  };
  const [key, lockedKey] = await Promise.all([keyAt("key", ""), keyAt("locked", passphrase), keyAt("host", "")]);
  const allowed = await Promise.all(["key.pub", "locked.pub"].map((name) => readFile(join(folder, name), "utf8")));
  await writeFile(join(folder, "allowed"), allowed.join(""));
  await writeFile(join(folder, "sshd_config"), configOf(folder, port));
  let running = await startProgram(folder);
  return {
    port,
    userName,
    password,
    home,
    key,
    lockedKey,
    passphrase,
    knownHost: async () => `[127.0.0.1]:${port} ${(await readFile(join(folder, "host.pub"), "utf8")).trim()}\n`,
    changeKey: async () => {
      await running.stop();
      await Promise.all(["host", "host.pub"].map((name) => rm(join(folder, name))));
      await keyAt("host", "");
      running = await startProgram(folder);
    },
    stop: async () => {
      await running.stop();
      await endAll(userName);
      await run("userdel", ["--force", userName]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const configOf = (folder: string, port: number): string =>
  [
    `Port ${port}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${join(folder, "host")}`,
    `AuthorizedKeysFile ${join(folder, "allowed")}`,
    "PidFile none",
    "StrictModes no",
    "UsePAM no",
    "PasswordAuthentication yes",
    "KbdInteractiveAuthentication no",
    "MaxStartups 100",
    "",
  ].join("\n");

async function startProgram(folder: string): Promise<Running> {
  const child = spawn(PROGRAM, ["-f", join(folder, "sshd_config"), "-D", "-e"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env["PATH"] },
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let said = "";
  await new Promise<void>((resolve, reject) => {
    child.stderr.on("data", (data: Buffer) => {
      said += data.toString();
      if (said.includes("Server listening on")) resolve();
    });
    void exited.then(() => reject(new Error(`sshd ended: ${said}`)));
  });
  return {
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
      // Remaining sessions hold the stream open.
      child.stderr.destroy();
    },
  };
}

/** Kills processes that a failed test may have left. */
async function endAll(userName: string): Promise<void> {
  const uid = Number((await run("id", ["-u", userName])).stdout);
  for (const { pid } of livingProcesses(2)) if (idsOf(pid)?.uids.includes(uid)) process.kill(pid, "SIGKILL");
}

async function fed(program: string, input: string): Promise<void> {
  const done = run(program);
  done.child.stdin?.end(input);
  await done;
}

/** sshd cannot choose a free port itself. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}
