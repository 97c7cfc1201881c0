/**
 * Reads the token with which the delegate registers: an option, a file or standard input. main.ts never passes it to
 * steps.
 */
import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { textOf, usageError } from "./fault.ts";
import type { TokenSource } from "./options.ts";

const MAX_TOKEN = 1024;

/**
 * The token, from where the options say.
 * @throws Fault when there is none or when no header could carry it.
 */
export async function readToken(source: TokenSource, stdin: Readable): Promise<string> {
  switch (source.kind) {
    case "given":
      return checkToken(source.token, "--token or RAILHEAD_DELEGATE_TOKEN");
    case "file":
      return checkToken(readTokenFile(source.path), "--token-file");
    case "stdin":
      return checkToken(await readFirstLine(stdin), "the first line of standard input");
  }
}

function readTokenFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw usageError(`--token-file cannot be read: ${textOf(error)}`);
  }
}

/** Checks the token. The error message names the source and never the value. */
function checkToken(text: string, source: string): string {
  const token = text.trim();
  if (token === "" || token.length > MAX_TOKEN || !/^[\x21-\x7e]+$/.test(token))
    throw usageError(`${source} holds no token (one word of 1 to ${MAX_TOKEN} visible ASCII characters)`);
  return token;
}

/** Reads up to the first newline and leaves the stream open: its end is a message of its own. */
function readFirstLine(stdin: Readable): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const done = (line: string): void => {
      stdin.off("data", take);
      stdin.off("end", ended);
      resolve(line);
    };
    const ended = (): void => done(text);
    const take = (chunk: Buffer): void => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\n");
      if (end >= 0) done(text.slice(0, end));
      else if (text.length > MAX_TOKEN) done("");
    };
    stdin.on("data", take);
    stdin.on("end", ended);
  });
}

/** Calls back once when standard input is closed, so that its writer has ended. */
export function onClosed(stdin: Readable, gone: () => void): void {
  let hasCalled = false;
  const callOnce = (): void => {
    if (!hasCalled) gone();
    hasCalled = true;
  };
  if (stdin.readableEnded || stdin.destroyed) return callOnce();
  stdin.on("end", callOnce);
  stdin.on("close", callOnce);
  stdin.on("error", callOnce);
  stdin.resume();
}
