/**
 * Answers to requests that Node's HTTP parser rejects and to slow clients. They have no request object and no route.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Problem } from "../../../core/problem.ts";
import { errorBody, type ErrorFamily } from "../response/envelope.ts";
import { problem } from "../problems.ts";
import type { Route } from "../routes.ts";

/** Sends the problem in the usual shape and closes the connection. */
export function answerNotHttp({ code }: { readonly code?: string }, socket: Socket): void {
  // A client that reset the connection reads nothing.
  if (code !== "ECONNRESET" && socket.writable) {
    const body = JSON.stringify(errorBody(problem("http.not_http", [reasonOf(code)]), "rest", randomUUID()));
    const head = [
      "HTTP/1.1 400 Bad Request",
      "content-type: application/json; charset=utf-8",
      `content-length: ${Buffer.byteLength(body)}`,
      "connection: close",
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  }
  socket.destroy();
}

/** Replaces answers of Node or the CORS plugin that are plain text or have no body. */
export function faultOfHead({ method, headers, httpVersion }: IncomingMessage): Problem | undefined {
  if (httpVersion === "1.1" && headers.host === undefined) return problem("http.not_http", ["it names no host"]);
  const isPreflight = headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
  return method === "OPTIONS" && !isPreflight ? problem("http.no_preflight") : undefined;
}

function reasonOf(code: string | undefined): string {
  if (code === "HPE_HEADER_OVERFLOW") return "its address and headers are too long";
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "it did not come in time";
  return "it breaks the rules of HTTP";
}

/** Shape of errors at an address without a route: that of the addresses with the same prefix. */
export function familyNear(routes: readonly Route[], url: string): ErrorFamily {
  const path = url.replace(/^\/gateway(?=\/)/, "");
  return routes.find((route) => path.startsWith(route.path.split(":")[0] ?? route.path))?.errors ?? "rest";
}
