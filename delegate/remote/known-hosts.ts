/**
 * Verifies hosts by their keys. An operator's file of known hosts is the only source if it is given.
 * Otherwise the first key that a host shows is trusted and stored in the work folder; later ones must match.
 *
 * ssh runs as the step's user, who cannot write to this file: it gets a copy, and keys that it added are adopted
 * afterwards.
 */
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { textOf } from "../fault.ts";
import type { Log } from "../log.ts";
import { appendToFile, readLimitedFile, readRegularFile } from "../regular-file.ts";

/** The host keys that ssh accepts. `adoptKeys` changes nothing if the operator names a file. */
export type KnownHosts = {
  /** Initial content of the step's copy. @throws the system's error, for an operator's file */
  readonly copy: () => { readonly text: string; readonly strict: boolean };
  /** Adopts the keys that ssh has added to its copy. */
  readonly adoptKeys: (copy: string, target: HostTarget) => void;
};

type HostTarget = { readonly host: string; readonly port: number };

/** `own`: the file in the work folder. */
type AdoptDeps = { readonly own: string; readonly log: Pick<Log, "info" | "warn"> };

const MAX_COPY = 16 * 1024 * 1024;
const KEY = /^(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[A-Za-z0-9@.-]+ [A-Za-z0-9+/]+={0,2}$/;

/** @param operators the file of --known-hosts; `own`: the file in the work folder, used if there is none */
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
        adoptKeysFrom(copy, target, { own, log });
      } catch (error) {
        log.warn({ host: target.host, error: textOf(error) }, "the key of a host could not be stored");
      }
    },
  };
}

function adoptKeysFrom(copy: string, { host, port }: HostTarget, { own, log }: AdoptDeps): void {
  const bytes = readLimitedFile(copy, MAX_COPY);
  if (bytes === undefined || bytes === "tooLarge") return;
  const known = textIn(own).split("\n");
  const name = nameOf(host, port);
  const isOf = (line: string): boolean => line.startsWith(`${name} `);
  // The step can write anything to its copy: only a key of the step's host, in ssh's format, is adopted.
  const found = bytes
    .toString("latin1")
    .split("\n")
    .filter((line) => isOf(line) && KEY.test(line.slice(name.length + 1)) && !known.includes(line));
  if (found.length === 0) return;
  // Another step has connected to the host at the same time: its key counts.
  if (known.some(isOf)) return log.warn({ host: name }, "a host has shown two keys; the first one is used");
  appendToFile(own, Buffer.from(found.map((line) => `${line}\n`).join("")));
  log.info({ host: name, keys: found.length }, "the key of a new host is stored and trusted from now on");
}

/** As ssh writes it. */
const nameOf = (host: string, port: number): string =>
  port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`;

/** @throws the system's error: hosts of a file that cannot be read are not unknown */
function textIn(file: string): string {
  if (existsSync(file)) accessSync(file, constants.R_OK);
  return readRegularFile(file)?.toString("utf8") ?? "";
}
