/** What a request carries besides its head: its bytes, and what it says of them. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { problem } from "../problems.ts";

/** Without parameters, in lower case. */
export function mediaType({ headers }: Pick<FastifyRequest, "headers">): string {
  const given = headers["content-type"] ?? "";
  // As almost every client writes it: nothing to take apart.
  return given === "application/json" ? given : (given.split(";")[0] ?? "").trim().toLowerCase();
}

/** The charset parameter of a content type, in lower case; "" when there is none. */
const charsetOf = (request: FastifyRequest): string =>
  /;\s*charset\s*=\s*"?([^\s;"]{1,80})/i.exec(request.headers["content-type"] ?? "")?.[1]?.toLowerCase() ?? "";

/** Bodies stay bytes until a handler knows what they are: YAML, JSON and forms share paths. */
export function readBodiesAsBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // Before the body is read, and after the credential: the limit counts the bytes that come, and nothing here unpacks them.
  app.addHook("preParsing", ({ headers }, _reply, payload, done) => {
    const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
    if (encoding === "identity") done(null, payload);
    else done(problem("http.bad_encoding", [encoding.slice(0, 80)]));
  });
  app.addContentTypeParser("*", { parseAs: "buffer" }, (request, bytes, done) => {
    done(null, { contentType: mediaType(request), charset: charsetOf(request), bytes });
  });
  // A form is read by its handler, part by part; only GraphQL has one that does.
  app.addContentTypeParser(/^multipart\/form-data(?:$|[\s;])/i, (_request, _stream, done) => done(null, undefined));
}
