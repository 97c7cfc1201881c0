/**
 * Forms with text fields and at most one file: `query` with `x-api-key` as browsers send it, `file` with `query` or
 * `spec` for secret files. The whole form is read before any of it is used: a second part or a missing end must not
 * be detected after a write.
 */
import { Busboy } from "@fastify/busboy";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { Problem } from "../../../core/problem.ts";
import { decoded } from "./utf8.ts";
import { createPages, createRoom, type Pages, type Room, type UploadedFile } from "./file-pages.ts";
import { problem } from "../problems.ts";

/** The text fields of a form, each with its limit in bytes. */
export type FormTexts = Readonly<Record<string, number>>;

/** A form that was read to its end. `text` and `file` are undefined for a missing part. */
export type Form = {
  readonly text: (part: string) => string | undefined;
  readonly file: UploadedFile | undefined;
  /** Releases the form; called after the answer. */
  readonly release: () => void;
};

export type FormLimits = {
  readonly texts: FormTexts;
  readonly maxFile: number;
  readonly room: Room;
};

/** Files held at a time: of authenticated callers, and of callers whose credential is inside the form. */
const FILES_OF_CALLERS = 8;
const FILES_OF_STRANGERS = 2;

/** Shared by all readers of forms: largest file in bytes, and the memory budget. */
export type FormRooms = { readonly maxFile: number; readonly callers: Room; readonly strangers: Room };

/** Called once for the server: `maxFile` (bytes) and the budgets hold for all forms together. */
export const createFormRooms = (maxFile: number): FormRooms => ({
  maxFile,
  callers: createRoom(FILES_OF_CALLERS, maxFile),
  strangers: createRoom(FILES_OF_STRANGERS, maxFile),
});
/** Bytes for boundaries and headers of parts, and for what the parser has not yet separated. */
const AROUND_PARTS = 128 * 1024;
/** Only the limit of each part bounds texts. */
const UNSHARED: Room = { take: () => true, give: () => undefined };

const malformed = (): Problem => problem("http.bad_form", ["The form is malformed."]);
const tooLarge = (): Problem => problem("http.bad_form", ["The form is larger than this operation takes."]);
const fileTooLarge = (bytes: number): Problem => problem("http.file_too_large", [String(bytes)]);

/** Rejects a form whose Content-Length is too large, before reading it. */
export function checkFormLength(declared: string | undefined, texts: FormTexts, maxFile: number): void {
  const inTexts = Object.values(texts).reduce((sum, bytes) => sum + bytes, 0);
  if (Number(declared ?? 0) > maxFile + inTexts + AROUND_PARTS) throw fileTooLarge(maxFile);
}

/** Reads a form to its end. Rejects with a Problem at the first fault and leaves the rest unread. */
export function readForm(
  request: { readonly raw: IncomingMessage },
  { texts, maxFile, room }: FormLimits,
): Promise<Form> {
  const { raw } = request;
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
  const streams: Readable[] = [];
  // Many pieces may arrive before the first bytes of their part are read.
  const unread = (): number => streams.reduce((sum, stream) => sum + stream.readableLength, parser.writableLength);
  const count = (chunk: Buffer): void => {
    total += chunk.length;
    if (total - inParts - unread() > AROUND_PARTS) fail(tooLarge());
  };

  parser.on("file", (name: string | undefined, stream: Readable, _filename, encoding) => {
    stream.on("error", broken);
    streams.push(stream);
    const refused = refusePart(name, encoding, parts, texts);
    if (refused) return fail(refused);
    const limit = name === "file" ? maxFile : (texts[name ?? ""] ?? 0);
    const pages = createPages(name === "file" ? room : UNSHARED);
    parts.set(name ?? "", pages);
    stream.on("data", (piece: Buffer) => {
      if (over) return;
      inParts += piece.length;
      if (pages.size() + piece.length > limit) return fail(name === "file" ? fileTooLarge(maxFile) : tooLarge());
      if (!pages.add(piece)) fail(problem("http.no_room", [], { retryAfter: 1 }));
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

/** Every part arrives as bytes. Its name decides whether it is text, not its own headers. */
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
  texts: FormTexts,
): Problem | undefined {
  if (name === undefined || (name !== "file" && !Object.hasOwn(texts, name)))
    return problem("http.unknown_part", [(name ?? "").slice(0, 100), [...Object.keys(texts), "file"].join(", ")]);
  if (parts.has(name)) return problem("http.two_parts", [name]);
  // RFC 7578 section 4.7 deprecates this header; decoding or ignoring it would be a guess.
  if (!["7bit", "8bit", "binary"].includes(encoding))
    return problem("http.bad_form", [`The part '${name}' has a content-transfer-encoding; send it as it is.`]);
  return undefined;
}

function formOf(parts: ReadonlyMap<string, Pages>, release: () => void): Form {
  const texts = new Map<string, string>();
  for (const [name, part] of parts) if (name !== "file") texts.set(name, decoded(Buffer.concat(part.list())));
  const file = parts.get("file");
  return {
    text: (part) => texts.get(part),
    file: file && { size: file.size(), pages: file.list() },
    release,
  };
}
