/**
 * The server that answers while the process waits for the database: the process is alive and not ready. The platform
 * needs a database to be built, so this small server listens at its address until then.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { problem } from "../db/problems.ts";
import { CONTENT_TYPES, errorBody } from "./response/envelope.ts";
import { NO_DATABASE } from "./health.ts";

export type WaitingServer = {
  /** Starts listening at the first call. Rejects when the address is not available. */
  readonly open: () => Promise<void>;
  /** Stops it. Returns the port it used, so that the platform listens at the same one, or the configured port. */
  readonly close: () => Promise<number>;
};

const RETRY_SECONDS = "5";

/** Does not listen before `open`. `port` 0 picks a free one. */
export function createWaitingServer({ host, port }: { readonly host: string; readonly port: number }): WaitingServer {
  let server: Server | undefined;
  let used = port;
  return {
    async open() {
      if (server) return;
      const made = createServer(({ url = "" }, response) => answer(url, response));
      made.listen({ host, port });
      await once(made, "listening");
      used = (made.address() as AddressInfo).port;
      server = made;
    },
    async close() {
      if (!server) return used;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
      server = undefined;
      return used;
    },
  };
}

function answer(url: string, response: ServerResponse): void {
  const path = (url.split("?")[0] ?? "").replace(/^\/gateway(?=\/)/, "");
  if (path === "/health/live") return send(response, 200, JSON.stringify({ status: "UP" }));
  if (path === "/health/ready") return send(response, 503, JSON.stringify({ status: "DOWN", reason: NO_DATABASE }));
  response.setHeader("retry-after", RETRY_SECONDS);
  send(response, 503, JSON.stringify(errorBody(problem("db.unavailable"), "rest", randomUUID())));
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "content-type": CONTENT_TYPES.rest }).end(body);
}
