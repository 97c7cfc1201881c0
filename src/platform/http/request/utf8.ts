import { isUtf8 } from "node:buffer";
import { problem } from "../problems.ts";

/** The text of bytes that must be UTF-8: replacing what is not would keep something else than was sent. */
export function decoded(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw problem("http.bad_body", ["The body is not UTF-8."]);
  return bytes.toString("utf8");
}
