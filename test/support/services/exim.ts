/**
 * A real mail transfer agent for tests: Debian's Exim, started for each connection as by inetd. It stores mails in its
 * queue and delivers none. Only root can start it; other users skip the tests that need it.
 */
import { spawn } from "node:child_process";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingDebianPackage } from "./debian.ts";
import { MAIL_USER } from "./mail-server.ts";
import { createCertificate } from "./token-server.ts";

const PROGRAM = "/usr/sbin/exim4";
/** The package creates its user with this folder. */
const HOME = "/var/spool/exim4";

/** Returns the reason to skip the test, or undefined if nothing is missing. */
export async function eximIsMissing(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "only root can start Exim; run the tests as root";
  return missingDebianPackage([PROGRAM, HOME], ["exim4-daemon-light"]);
}

export type Exim = {
  readonly port: number;
  /** The file of the certificate for localhost, which no program trusts. */
  readonly certificate: string;
  /** The mails in the queue: recipients and headers, and the body. */
  readonly mails: () => Promise<readonly { readonly head: string; readonly body: string }[]>;
  readonly stop: () => Promise<void>;
};

/** The recipient `unknown` does not exist, `busy` is refused for now. */
export async function startExim(): Promise<Exim> {
  const [folder, files] = await Promise.all([mkdtemp(join(tmpdir(), "railhead-exim-")), createCertificate()]);
  const { uid, gid } = await stat(HOME);
  await chmod(folder, 0o755);
  for (const name of ["spool", "log"]) {
    await mkdir(join(folder, name));
    await chown(join(folder, name), uid, gid);
  }
  const key = join(folder, "key.pem");
  await writeFile(key, await readFile(files.key));
  await chown(key, uid, gid);
  await writeFile(join(folder, "certificate.pem"), await readFile(files.certificate));
  const config = join(folder, "exim.conf");
  await writeFile(config, configOf(folder));
  const running = new Set<Promise<unknown>>();
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    const child = spawn(PROGRAM, ["-C", config, "-bs"], { stdio: [socket, socket, "ignore"], env: {} });
    // The child has its own descriptor of the connection.
    child.once("spawn", () => socket.destroy());
    const exited = new Promise((resolve) => child.once("exit", resolve)).finally(() => running.delete(exited));
    running.add(exited);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const queue = join(folder, "spool", "input");
  return {
    port: (server.address() as AddressInfo).port,
    certificate: join(folder, "certificate.pem"),
    mails: async () => {
      const names = (await readdir(queue)).filter((name) => name.endsWith("-H")).toSorted();
      const read = (name: string): Promise<string> => readFile(join(queue, name), "utf8");
      return Promise.all(
        names.map(async (name) => ({ head: await read(name), body: await read(name.replace(/H$/, "D")) })),
      );
    },
    stop: async () => {
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all(running);
      await files.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const configOf = (folder: string): string => `primary_hostname = localhost
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/%slog
queue_only = true
keep_environment =
tls_advertise_hosts = *
tls_certificate = ${folder}/certificate.pem
tls_privatekey = ${folder}/key.pem
auth_advertise_hosts = \${if eq{$tls_in_cipher}{}{}{*}}
acl_smtp_rcpt = recipients
begin acl
recipients:
  deny local_parts = unknown
       message = no such mailbox
  defer local_parts = busy
       message = try again later
  accept authenticated = *
  deny message = log in first
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if and{{eq{$auth2}{${MAIL_USER.username}}}{eq{$auth3}{${MAIL_USER.password}}}}}
`;
