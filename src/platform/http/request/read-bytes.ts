/** The body of a request: its bytes and its content type. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Readable } from "node:stream";
import { addToSum } from "../../add-to-sum.ts";
import { problem } from "../problems.ts";
import { callerKeyOf } from "../response/open-answers.ts";
import { createPages, type Room } from "./file-pages.ts";

/** Bytes of bodies that a server has in memory at once: of all unknown senders, and of each caller. */
const MOST = { unknown: 256 * 1024 * 1024, ofCaller: 64 * 1024 * 1024 };
/** A body up to this size is read also beyond the bound, because a sign-in has one. */
const SMALL = 16 * 1024;
const RETRY_SECONDS = 5;
/** The parts are counted themselves. */
const UNBOUNDED: Room = { take: () => true, give: () => undefined };

/** The media type without parameters, in lower case. */
export function mediaType({ headers }: Pick<FastifyRequest, "headers">): string {
  const given = headers["content-type"] ?? "";
  // The form that almost every client sends needs no parsing.
  return given === "application/json" ? given : (given.split(";")[0] ?? "").trim().toLowerCase();
}

/** The charset parameter of a content type, in lower case; "" without one. */
const charsetOf = (request: FastifyRequest): string =>
  /;\s*charset\s*=\s*"?([^\s;"]{1,80})/i.exec(request.headers["content-type"] ?? "")?.[1]?.toLowerCase() ?? "";

/**
 * Bodies stay bytes until a handler knows their type: YAML, JSON and forms share paths. `most` bounds the bytes of
 * requests without an actor together, and of each caller's, from their arrival until the answer.
 */
export function readBodiesAsBytes(app: FastifyInstance, most = MOST): void {
  const count = boundBodies(app, most);
  app.removeAllContentTypeParsers();
  // Runs after authentication and before the body is read. The limit counts received bytes; nothing decompresses
  // them.
  app.addHook("preParsing", ({ headers }, _reply, payload, done) => {
    const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
    if (encoding === "identity") done(null, payload);
    else done(problem("http.bad_encoding", [encoding.slice(0, 80)]));
  });
  app.addContentTypeParser("*", (request, payload, done) => {
    readBytes(request, payload, count, (error, bytes) => {
      if (error) done(error);
      else done(null, { contentType: mediaType(request), charset: charsetOf(request), bytes });
    });
  });
  // A handler reads its form part by part; of the GraphQL requests, only uploads have one.
  app.addContentTypeParser(/^multipart\/form-data(?:$|[\s;])/i, (_request, _stream, done) => done(null, undefined));
}

type CountPart = (request: FastifyRequest, bytes: number) => Error | undefined;

/** Returns a function that counts a part of a body, and returns the refusal if too much is in memory. */
function boundBodies(app: FastifyInstance, most: typeof MOST): CountPart {
  const sizes = new Map<FastifyRequest, number>();
  /** Sums by caller; unknown senders are one. */
  const sums = new Map<string, number>();
  // Every request has an answer, also one whose connection has ended.
  app.addHook("onSend", (request, _reply, _payload, done) => {
    const size = sizes.get(request);
    if (size !== undefined) {
      addToSum(sums, callerKeyOf(request), -size);
      sizes.delete(request);
    }
    done();
  });
  return (request, bytes) => {
    const size = (sizes.get(request) ?? 0) + bytes;
    const sum = (sums.get(callerKeyOf(request)) ?? 0) + bytes;
    if (size > SMALL && sum > (request.actor ? most.ofCaller : most.unknown))
      return problem(request.actor ? "http.too_many_own_bodies" : "http.too_many_bodies", [], {
        retryAfter: RETRY_SECONDS,
      });
    sizes.set(request, size);
    addToSum(sums, callerKeyOf(request), bytes);
    return undefined;
  };
}

/** Reads the body up to the limit of its route. */
function readBytes(
  request: FastifyRequest,
  payload: Readable,
  count: CountPart,
  done: (error: Error | undefined, bytes?: Buffer) => void,
): void {
  const { bodyLimit } = request.routeOptions;
  const tooLarge = () =>
    problem("http.bad_body", [`The request body is larger than ${bodyLimit} bytes (limit bodyBytes).`]);
  if (Number(request.headers["content-length"]) > bodyLimit) return done(tooLarge());
  const pages = createPages(UNBOUNDED);
  let first: Buffer | undefined;
  let size = 0;
  const end = (error?: Error): void => {
    payload.off("data", onData).off("end", onEnd).off("error", end);
    if (error) done(error);
    else done(undefined, Buffer.concat(first ? [first, ...pages.list()] : []));
  };
  const onEnd = (): void => end();
  const onData = (part: Buffer): void => {
    size += part.length;
    const refused = size > bodyLimit ? tooLarge() : count(request, part.length);
    if (refused) end(refused);
    // Most bodies are one part. A body may also have hundreds of thousands, each of which would use half a kilobyte.
    else if (first) pages.add(part);
    else first = part;
  };
  payload.on("data", onData).on("end", onEnd).on("error", end);
}
