/** Sends a generated request byte for byte, and prints it as a command that repeats it. */
import { Agent, request } from "node:http";
import type { Answer } from "../../support/platform.ts";

export type Sent = {
  readonly method: string;
  /** Path and query in their encoded form. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | undefined;
};

export const keepAlive = (): Agent => new Agent({ keepAlive: true, maxSockets: 1 });

/** Of an event stream it returns the head, since the stream does not end here. */
export function send(url: string, { method, target, headers, body }: Sent, agent: Agent): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const { hostname, port } = new URL(url);
  const flat = [
    "host",
    `${hostname}:${port}`,
    ...headers.flat(),
    ...(body ? ["content-length", String(body.length)] : []),
  ];
  const going = request({ agent, hostname, port, method, path: target, headers: flat }, (response) => {
    const answerHeaders = new Headers();
    for (const [name, value] of Object.entries(response.headers)) answerHeaders.set(name, String(value));
    const status = response.statusCode ?? 0;
    if (answerHeaders.get("content-type")?.startsWith("text/event-stream")) {
      response.destroy();
      return resolve({ status, headers: answerHeaders, text: "", body: undefined });
    }
    const pieces: Buffer[] = [];
    response.on("data", (piece: Buffer) => pieces.push(piece));
    response.on("error", reject);
    response.on("end", () => {
      const text = Buffer.concat(pieces).toString();
      resolve({ status, headers: answerHeaders, text, body: parsed(text) });
    });
  });
  going.on("error", (error) => reject(new Error(`No response: ${error.message}`, { cause: error })));
  going.end(body);
  return promise;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns a command for bash. The key comes from the variable API_KEY. */
export function asCurl({ method, target, headers, body }: Sent, secret: string): string {
  const options = headers.map(([name, value]) => {
    // The key is outside of the quotes, so that the shell inserts it.
    const shown = quoted(`${name}${value === "" ? ";" : `: ${value}`}`).replaceAll(secret, `'"$API_KEY"'`);
    return `-H ${shown}`;
  });
  const data = body ? ["--data-binary", "@-"] : [];
  const command = ["curl -sg --path-as-is", "-X", method, ...options, ...data, `"$BASE_URL"${quoted(target)}`].join(
    " ",
  );
  return body ? `printf '%b' ${quoted(escaped(body))} | ${command}` : command;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns text unchanged and other bytes as octal escapes. Long repetitions stay long. */
const escaped = (body: Buffer): string =>
  [...body]
    .map((byte) =>
      byte >= 0x20 && byte < 0x7f && byte !== 0x5c
        ? String.fromCharCode(byte)
        : `\\0${byte.toString(8).padStart(3, "0")}`,
    )
    .join("");
