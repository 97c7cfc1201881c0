/**
 * A real SSH server for tests: Debian's package openssh-server, as a child process on a free port, with a new user that
 * logs in and exists for the server alone. Only root can check passwords and switch users; other users skip the tests
 * that need it.
 */
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { idsOf, livingProcesses } from "../../../delegate/processes/processes.ts";
import { withOwnEtc } from "../../../delegate/testing/own-etc.ts";
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

/** No other user of the machine has this number, and no other test process. */
const UID = 0x6d00_0000 + process.pid;

/** Arguments: home folder, number and name of the user, password, and the program. */
const WITH_USER = `useradd --no-log-init --home-dir "$1" --shell /bin/bash --uid "$2" "$3"
printf '%s:%s\\n' "$3" "$4" | chpasswd
shift 4
exec "$@"`;

export async function startSshServer(): Promise<SshServer> {
  const folder = await mkdtemp(join(tmpdir(), "railhead-ssh-server-"));
  await chmod(folder, 0o755);
  const userName = `railhead-${randomBytes(5).toString("hex")}`;
  const [password, passphrase] = [randomBytes(9).toString("base64"), "open sesame, please"];
  const [home, etc] = [join(folder, "home"), join(folder, "etc")];
  await Promise.all([home, etc].map((path) => mkdir(path)));
  await chown(home, UID, UID);
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
  const withUser = ["/bin/sh", "-ec", WITH_USER, "sh", home, String(UID), userName, password];
  const command = [...withOwnEtc(etc), ...withUser, PROGRAM, "-f", join(folder, "sshd_config"), "-D", "-e"];
  let running = await startProgram(command);
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
      running = await startProgram(command);
    },
    stop: async () => {
      await running.stop();
      killUser();
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

async function startProgram([program = "", ...args]: readonly string[]): Promise<Running> {
  const child = spawn(program, args, {
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
function killUser(): void {
  for (const { pid } of livingProcesses(2)) if (idsOf(pid)?.uids.includes(UID)) process.kill(pid, "SIGKILL");
}

/** sshd cannot choose a free port itself. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}
