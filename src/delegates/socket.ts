/** The route that delegates connect to. It authenticates a connection before it becomes a WebSocket. */
import type { FastifyInstance } from "fastify";
import { formatRange, PROTOCOL, PROTOCOL_HEADER } from "../../protocol/versions.ts";
import type { Problem } from "../core/problem.ts";
import { asUnauthenticated } from "../platform/db/pool/budget.ts";
import { credentialOf } from "../platform/http/credentials.ts";
import { problem as httpProblem } from "../platform/http/problems.ts";
import { startConversation, type ConversationDeps } from "./conversation.ts";
import { authenticateDelegate } from "./registry/tokens.ts";
import { MAX_WITHOUT_SESSION } from "./session/connections.ts";
import type { TokenKey } from "./store/token-validity.ts";

export const DELEGATE_PATHS = ["/delegate/connect", "/gateway/delegate/connect"] as const;

export function addDelegateSocket(app: FastifyInstance, deps: ConversationDeps): void {
  const tokens = new WeakMap<object, TokenKey>();
  // The delegate reads it before its hello, whose form depends on it.
  app.websocketServer.on("headers", (headers) => headers.push(`${PROTOCOL_HEADER}: ${formatRange(PROTOCOL)}`));
  for (const url of DELEGATE_PATHS) {
    app.route({
      method: "GET",
      url,
      onRequest: async (request) => {
        const token = credentialOf(request.raw);
        const find = () => (token ? authenticateDelegate(deps, token) : undefined);
        const known = await asUnauthenticated(request, find);
        if (!known) throw httpProblem("http.no_credential");
        if (deps.connections.isAtLimit(known.tokenId)) throw tooManyWithoutSession();
        tokens.set(request, known);
      },
      handler: async () => {
        throw httpProblem("http.bad_body", ["This address speaks WebSocket with delegates."]);
      },
      wsHandler: (socket, request) => {
        const token = tokens.get(request);
        // Others may have been admitted since `onRequest`.
        if (token && !deps.connections.isAtLimit(token.tokenId)) startConversation(deps, token, socket);
        else socket.terminate();
      },
    });
  }
}

const tooManyWithoutSession = (): Problem =>
  httpProblem(
    "http.too_many_open",
    [`${MAX_WITHOUT_SESSION}`, "connections without a session, all of this delegate token,"],
    { retryAfter: 1 },
  );
