/** What a task takes of a response. */
import type { ReceivedResponse } from "../../src/platform/outgoing/get.ts";

/** The body as text in the charset of its type, UTF-8 by default; undefined if it is no text. */
export function bodyOf({ bytes, headers }: Pick<ReceivedResponse, "bytes" | "headers">): string | undefined {
  const [, charset = "utf-8"] = /;\s*charset="?([\w.:-]{1,40})"?/i.exec(headers["content-type"] ?? "") ?? [];
  const text = decode(bytes, charset) ?? decode(bytes, "utf-8");
  return text?.includes("\0") === true ? undefined : text;
}

function decode(bytes: Buffer, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    // An unknown charset, or bytes that it does not have.
    return undefined;
  }
}

/** In the order of the response. The values of `set-cookie` are credentials, and results are stored. */
export const headersOf = ({ headers }: Pick<ReceivedResponse, "headers">): { name: string; value: string }[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    name === "set-cookie" || value === undefined ? [] : [{ name, value: [value].flat().join(", ") }],
  );
