/** The body of a request: its bytes and its content type. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { problem } from "../problems.ts";

/** The media type without parameters, in lower case. */
export function mediaType({ headers }: Pick<FastifyRequest, "headers">): string {
  const given = headers["content-type"] ?? "";
  // The form that almost every client sends needs no parsing.
  return given === "application/json" ? given : (given.split(";")[0] ?? "").trim().toLowerCase();
}

/** The charset parameter of a content type, in lower case; "" without one. */
const charsetOf = (request: FastifyRequest): string =>
  /;\s*charset\s*=\s*"?([^\s;"]{1,80})/i.exec(request.headers["content-type"] ?? "")?.[1]?.toLowerCase() ?? "";

/** Bodies stay bytes until a handler knows their type: YAML, JSON and forms share paths. */
export function readBodiesAsBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // Runs after authentication and before the body is read. The limit counts received bytes; nothing decompresses
  // them.
  app.addHook("preParsing", ({ headers }, _reply, payload, done) => {
    const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
    if (encoding === "identity") done(null, payload);
    else done(problem("http.bad_encoding", [encoding.slice(0, 80)]));
  });
  app.addContentTypeParser("*", { parseAs: "buffer" }, (request, bytes, done) => {
    done(null, { contentType: mediaType(request), charset: charsetOf(request), bytes });
  });
  // A handler reads its form part by part; of the GraphQL requests, only uploads have one.
  app.addContentTypeParser(/^multipart\/form-data(?:$|[\s;])/i, (_request, _stream, done) => done(null, undefined));
}
