/**
 * The two forms of spec.md: `query` with `x-api-key` as browsers send it, and `file` with `query` for secret
 * files. The whole form is read before anything of it is believed: a second part or a missing end
 * must not be found out after something was written.
 */
import { Busboy } from "@fastify/busboy";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { Problem } from "../../core/problem.ts";
import { decoded } from "../http/bodies.ts";
import { makePages, type Pages, type Room, type UploadedFile } from "./pages.ts";
import { problem } from "./problems.ts";
import { MAX_GRAPHQL_BODY } from "./request.ts";

export type Form = {
  readonly query: string | undefined;
  readonly credential: string | undefined;
  readonly file: UploadedFile | undefined;
  /** To be called once the request is answered. */
  readonly release: () => void;
};

export type FormLimits = { readonly maxFile: number; readonly room: Room };

/** Bytes of a text part; the file's own limit is configured. */
const TEXT_PARTS: Readonly<Record<string, number>> = { query: MAX_GRAPHQL_BODY, "x-api-key": 4 * 1024 };
/** What stands around the parts, and what the parser has not yet told apart from it. */
const AROUND_PARTS = 128 * 1024;
/** Text is bounded by its part alone. */
const UNSHARED: Room = { take: () => true, give: () => undefined };

const malformed = (): Problem => problem("graphql.bad_body", ["The form is malformed."]);
const tooLarge = (): Problem => problem("graphql.bad_body", ["The form is larger than this operation takes."]);
const fileTooLarge = (bytes: number): Problem => problem("graphql.file_too_large", [String(bytes)]);

/** Refuses a form that says itself that it is too large, before anything of it is read. */
export function checkFormLength(declared: string | undefined, maxFile: number): void {
  if (Number(declared ?? 0) > maxFile + MAX_GRAPHQL_BODY + AROUND_PARTS) throw fileTooLarge(maxFile);
}

/** Reads a form to its end. Rejects with a Problem as soon as something is wrong; the rest of it is left unread then. */
export function readForm(raw: IncomingMessage, { maxFile, room }: FormLimits): Promise<Form> {
  const { promise, resolve, reject } = Promise.withResolvers<Form>();
  const parts = new Map<string, Pages>();
  let [total, inParts, over] = [0, 0, false];
  const release = (): void => {
    for (const part of parts.values()) part.wipe();
  };

  const parser = makeParser(raw);
  if (!parser) return Promise.reject(malformed());
  const settle = (): boolean => {
    if (over) return false;
    over = true;
    raw.unpipe(parser);
    raw.off("data", count).off("close", closed);
    return true;
  };
  const fail = (error: Problem): void => {
    if (!settle()) return;
    release();
    reject(error);
  };
  const broken = (): void => fail(malformed());
  const closed = (): void => (raw.complete ? undefined : broken());
  const count = (chunk: Buffer): void => {
    total += chunk.length;
    if (total - inParts > AROUND_PARTS) fail(tooLarge());
  };

  parser.on("file", (name: string | undefined, stream: Readable, _filename, encoding) => {
    stream.on("error", broken);
    const refused = refusePart(name, encoding, parts);
    if (refused) return fail(refused);
    const limit = name === "file" ? maxFile : (TEXT_PARTS[name ?? ""] ?? 0);
    const pages = makePages(name === "file" ? room : UNSHARED);
    parts.set(name ?? "", pages);
    stream.on("data", (piece: Buffer) => {
      if (over) return;
      inParts += piece.length;
      if (pages.size() + piece.length > limit) return fail(name === "file" ? fileTooLarge(maxFile) : tooLarge());
      if (!pages.add(piece)) fail(problem("graphql.no_room", [], { retryAfter: 1 }));
    });
  });
  parser.on("error", broken);
  parser.on("finish", () => {
    if (over) return;
    try {
      const form = formOf(parts, release);
      if (settle()) resolve(form);
    } catch (error) {
      fail(error instanceof Problem ? error : malformed());
    }
  });
  raw.on("data", count).on("close", closed);
  raw.pipe(parser);
  return promise;
}

/** Every part comes as bytes: what is text is decided here, by its name, not by what the part says of itself. */
function makeParser({ headers }: IncomingMessage): InstanceType<typeof Busboy> | undefined {
  try {
    const limits = { headerPairs: 16, headerSize: 8 * 1024 };
    return new Busboy({
      headers: { ...headers, "content-type": headers["content-type"] ?? "" },
      isPartAFile: () => true,
      limits,
    });
  } catch {
    return undefined;
  }
}

function refusePart(
  name: string | undefined,
  encoding: string,
  parts: ReadonlyMap<string, unknown>,
): Problem | undefined {
  if (name === undefined || (name !== "file" && !Object.hasOwn(TEXT_PARTS, name)))
    return problem("graphql.unknown_part", [(name ?? "").slice(0, 100)]);
  if (parts.has(name)) return problem("graphql.two_parts", [name]);
  // RFC 7578 section 4.7: nobody sends it, and decoding it or not would be a guess.
  if (!["7bit", "8bit", "binary"].includes(encoding))
    return problem("graphql.bad_body", [`The part '${name}' has a content-transfer-encoding; send it as it is.`]);
  return undefined;
}

function formOf(parts: ReadonlyMap<string, Pages>, release: () => void): Form {
  const text = (name: string): string | undefined => {
    const part = parts.get(name);
    return part && decoded(Buffer.concat(part.list()));
  };
  const file = parts.get("file");
  return {
    query: text("query"),
    credential: text("x-api-key"),
    file: file && { size: file.size(), pages: file.list() },
    release,
  };
}
