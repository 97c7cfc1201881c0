/**
 * An HTTP server for requests of steps: `/releases` opens a ticket, `/tickets/…` says whether it is approved, `/never`
 * gives no answer, all else is an error.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

type Received = Pick<IncomingMessage, "method" | "url" | "headers"> & { readonly body: string };

export type ReleaseApi = {
  readonly url: string;
  readonly received: readonly Received[];
  /** Resolves when a request for `/never` has come. */
  readonly unanswered: Promise<void>;
  readonly approveTickets: () => void;
  readonly stop: () => void;
};

export async function startReleaseApi(): Promise<ReleaseApi> {
  const received: Received[] = [];
  const unanswered = Promise.withResolvers<void>();
  let tickets = "waiting";
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url = "", headers } = request;
      received.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      if (url === "/never") return unanswered.resolve();
      if (url.startsWith("/tickets/")) return response.end(tickets);
      response.writeHead(url.startsWith("/releases") ? 201 : 500, { "content-type": "application/json" });
      response.end(JSON.stringify({ state: "open", ticket: { id: "REL-7" }, you: headers.authorization ?? "" }));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    unanswered: unanswered.promise,
    approveTickets: () => void (tickets = "approved"),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
