/**
 * Which hosts are the ones they say they are. An operator's file of known hosts is the only truth where there is one.
 * Otherwise the first key that a host shows is believed, kept in the work folder, and from then on no other one.
 *
 * ssh runs as the step's user, who may not write here: it gets a copy, and what it has added to that is taken over afterwards.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { codeOf, textOf } from "../fault.ts";
import type { Log } from "../log.ts";
import { readRegular } from "../output/output-variables.ts";

export type KnownHosts = {
  /** What the step's ssh begins with. @throws the system's error, of an operator's file */
  readonly copy: () => { readonly text: string; readonly strict: boolean };
  /** Takes over what ssh has added to its copy. */
  readonly adoptKeys: (copy: string, target: { readonly host: string; readonly port: number }) => void;
};

const MAX_COPY = 16 * 1024 * 1024;
const KEY = /^(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[A-Za-z0-9@.-]+ [A-Za-z0-9+/]+={0,2}$/;

/** @param operators the file of --known-hosts; `own`: the one that is kept where there is none */
export function createKnownHosts(
  operators: string | undefined,
  own: string,
  log: Pick<Log, "info" | "warn">,
): KnownHosts {
  if (operators !== undefined)
    return { copy: () => ({ text: readFileSync(operators, "utf8"), strict: true }), adoptKeys: () => {} };
  return {
    copy: () => ({ text: textIn(own), strict: false }),
    adoptKeys: (copy, target) => {
      try {
        adoptKeysFrom(copy, target, own, log);
      } catch (error) {
        log.warn({ host: target.host, error: textOf(error) }, "the key of a host could not be kept");
      }
    },
  };
}

function adoptKeysFrom(
  copy: string,
  { host, port }: { readonly host: string; readonly port: number },
  own: string,
  log: Pick<Log, "info" | "warn">,
): void {
  const bytes = readRegular(copy, MAX_COPY);
  if (bytes === undefined || bytes === "tooLarge") return;
  const known = textIn(own).split("\n");
  const name = nameOf(host, port);
  const isOf = (line: string): boolean => line.startsWith(`${name} `);
  // The step's user could have written anything: a key of its own host, in ssh's own form, is all that counts.
  const found = bytes
    .toString("latin1")
    .split("\n")
    .filter((line) => isOf(line) && KEY.test(line.slice(name.length + 1)) && !known.includes(line));
  if (found.length === 0) return;
  // Another step has met the host at the same time: what it saw counts.
  if (known.some(isOf)) return log.warn({ host: name }, "a host has shown two keys; the first one counts");
  appendFileSync(own, found.map((line) => `${line}\n`).join(""), { mode: 0o600 });
  log.info({ host: name, keys: found.length }, "a host was met for the first time; its key is believed from now on");
}

/** As ssh writes it. */
const nameOf = (host: string, port: number): string =>
  port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`;

function textIn(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "";
    throw error;
  }
}
