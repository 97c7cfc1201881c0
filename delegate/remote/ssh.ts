/** The system's ssh: its arguments, and how it gets a password without showing it. */
import type { ShellTarget } from "../../protocol/work/shell.ts";
import { quoteForBash } from "../output/output-variables.ts";
import { BOOT } from "./script.ts";

/** Beside ssh, which is started in the step's working directory. */
export const KNOWN_HOSTS = "known_hosts";

/** Seconds. */
const CONNECT_TIMEOUT = 20;
/** Seconds between keepalive messages, and unanswered ones until the connection counts as lost. */
const [ALIVE_INTERVAL, ALIVE_COUNT] = [15, 4];

/**
 * Nothing of a user's or the machine's configuration is read (`-F none`), nothing is forwarded, no program is run for
 * the connection, no question is asked, and only the credential's key is offered. After `--` nothing is an option.
 *
 * @param keyFile of a login with a key
 * @param strict whether a host that is not known yet is refused
 */
export function sshArguments(
  { host, port, userName, auth }: ShellTarget,
  keyFile: string | undefined,
  strict: boolean,
): readonly string[] {
  const options = [
    `StrictHostKeyChecking=${strict ? "yes" : "accept-new"}`,
    `UserKnownHostsFile=${KNOWN_HOSTS}`,
    "GlobalKnownHostsFile=none",
    "CheckHostIP=no",
    "HashKnownHosts=no",
    "UpdateHostKeys=no",
    "VerifyHostKeyDNS=no",
    `ConnectTimeout=${CONNECT_TIMEOUT}`,
    "ConnectionAttempts=1",
    `ServerAliveInterval=${ALIVE_INTERVAL}`,
    `ServerAliveCountMax=${ALIVE_COUNT}`,
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "ForwardX11=no",
    "PermitLocalCommand=no",
    "ProxyCommand=none",
    "ControlMaster=no",
    "ControlPath=none",
    "IdentityAgent=none",
    "IdentitiesOnly=yes",
    "NumberOfPasswordPrompts=1",
    ...(auth.kind === "password"
      ? ["PreferredAuthentications=password,keyboard-interactive", "PubkeyAuthentication=no"]
      : ["PreferredAuthentications=publickey"]),
    `BatchMode=${asksForSecret(auth) ? "no" : "yes"}`,
  ];
  return [
    ...["-F", "none", "-T", "-a", "-x"],
    ...options.flatMap((option) => ["-o", option]),
    // ssh expands words that begin with a per cent sign.
    ...(keyFile === undefined ? [] : ["-i", keyFile.replaceAll("%", "%%")]),
    ...["-p", String(port), "-l", userName, "--", host, BOOT],
  ];
}

/** Whether ssh has to ask for something. */
const asksForSecret = (auth: ShellTarget["auth"]): boolean => auth.kind === "password" || auth.passphrase !== null;

/** Index of the secret that answers ssh's question; null if it asks none. */
export const answerPlace = (auth: ShellTarget["auth"]): number | null =>
  auth.kind === "password" ? auth.password : auth.passphrase;

/**
 * The program that ssh asks instead of a person; its argument is the question. A host that wants the password changed
 * is not given one: it would become what it was.
 */
export const askpass = (cat: string): string => `#!/bin/sh
case $1 in
*"old password"*|*[Nn]"ew password"*|*[Rr]etype*|*[Cc]"urrent password"*) exit 1 ;;
esac
exec ${quoteForBash(cat)} -- "$RAILHEAD_ANSWER"
`;

/** DISPLAY is for versions of ssh that ask a program only where there is one. */
export const askpassEnvironment = (program: string, answer: string): readonly { name: string; value: string }[] => [
  { name: "SSH_ASKPASS", value: program },
  { name: "SSH_ASKPASS_REQUIRE", value: "force" },
  { name: "DISPLAY", value: "none" },
  { name: "RAILHEAD_ANSWER", value: answer },
];
