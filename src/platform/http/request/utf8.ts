import { isUtf8 } from "node:buffer";
import { problem } from "../problems.ts";

/** Decodes UTF-8 strictly: replacement characters would store a text other than the one sent. */
export function decoded(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw problem("http.bad_body", ["The body is not UTF-8."]);
  return bytes.toString("utf8");
}
