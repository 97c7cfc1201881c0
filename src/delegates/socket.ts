/** The server's end of a delegate's connection; protocol/messages.ts describes the order of a session. */
import type { FastifyInstance } from "fastify";
import type { WebSocket } from "ws";
import { toDelegate, type ToDelegate, type ToServer } from "../../protocol/messages.ts";
import type { Audit } from "../audit/index.ts";
import { fromWire } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import { asDelegate, asUnauthenticated } from "../platform/db/pool/budget.ts";
import { credentialOf } from "../platform/http/credentials.ts";
import { problem as httpProblem } from "../platform/http/problems.ts";
import type { Log } from "../platform/log/log.ts";
import type { CurrentSettings } from "../settings/index.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import { connect } from "./session/connect.ts";
import { MAX_OPENING, type Connection, type Connections } from "./session/connections.ts";
import { toOf, type Deliver } from "./tasks/deliver.ts";
import type { Dispatch } from "./tasks/dispatch.ts";
import type { Presence } from "./session/presence.ts";
import { problem } from "./problems.ts";
import { takeInOrder } from "./session/process-in-order.ts";
import type { Session, Sessions } from "./session/sessions.ts";
import type { StateRefresher } from "./session/state-refresher.ts";
import { knowBoot, markSeen } from "./store/delegates.ts";
import { isEntitled, type TokenKey } from "./store/standing.ts";
import { drop, endAsLost, isTaskOf, takeFinished, takeLog, type TakeDeps } from "./session/process-messages.ts";
import { takeReturned } from "./session/process-returned.ts";
import type { TaskEnd } from "./task.ts";
import { authenticateDelegate } from "./registry/tokens.ts";

export type SocketDeps = TakeDeps & {
  readonly connections: Connections;
  readonly sessions: Sessions;
  readonly dispatch: Dispatch;
  readonly stateRefresher: Pick<StateRefresher, "admitted" | "check">;
  readonly deliver: Deliver;
  readonly audit: Audit;
  readonly currentSettings: CurrentSettings;
  readonly presence: Pick<Presence, "interrupted">;
  readonly newId: NewId;
  readonly clock: Clock;
  readonly log: Log;
};

type Hello = Extract<ToServer, { kind: "hello" }>;

export const DELEGATE_PATHS = ["/delegate/connect", "/gateway/delegate/connect"] as const;

export function addDelegateSocket(app: FastifyInstance, deps: SocketDeps): void {
  const tokens = new WeakMap<object, TokenKey>();
  for (const url of DELEGATE_PATHS) {
    app.route({
      method: "GET",
      url,
      onRequest: async (request) => {
        const token = credentialOf(request.raw);
        const find = () => (token ? authenticateDelegate(deps, token) : undefined);
        const known = await asUnauthenticated(request, find);
        if (!known) throw httpProblem("http.no_credential");
        if (deps.connections.isFull(known.tokenId)) throw tooManyOpening();
        tokens.set(request, known);
      },
      handler: async () => {
        throw httpProblem("http.bad_body", ["This address speaks WebSocket with delegates."]);
      },
      wsHandler: (socket, request) => {
        const token = tokens.get(request);
        // Others may have been admitted since `onRequest`.
        if (token && !deps.connections.isFull(token.tokenId)) converse(deps, token, socket);
        else socket.terminate();
      },
    });
  }
}

const tooManyOpening = (): Problem =>
  httpProblem("http.too_many_open", [`${MAX_OPENING}`, "connections without a session, all of this delegate token,"], {
    retryAfter: 1,
  });

function converse(deps: SocketDeps, token: TokenKey, socket: WebSocket): void {
  let session: Session | undefined;
  const send = (message: ToDelegate): boolean => {
    if (socket.readyState !== socket.OPEN) return false;
    socket.send(JSON.stringify(toDelegate.parse(message)));
    return true;
  };

  const connection: Connection = {
    ...token,
    since: deps.clock.elapsed(),
    greeted: false,
    end: () => {
      // Removed at once, so that no task is leased to it while the socket closes.
      if (session) deps.sessions.closed(session);
      socket.terminate();
    },
  };

  async function refuse({ task, epoch }: { task: string; epoch: number }, end: TaskEnd): Promise<void> {
    const id = fromWire(task);
    const runId = id && session?.held.get(id);
    if (!session || !id || !runId) return;
    await endAsLost(deps, { accountId: session.delegate.accountId, id, runId, epoch }, end);
    session.held.delete(id);
    deps.dispatch.slotFreed(session);
  }

  async function begin(hello: Hello): Promise<void> {
    connection.greeted = true;
    const beginning = await connect(deps, token, hello);
    const { accountId, id } = beginning.delegate;
    // The delegate may have disconnected meanwhile. Its close event is over, so a session would never be closed. Its
    // leases stay with it: a later connection may run them already.
    if (socket.readyState !== socket.OPEN) return;
    // Opened before the welcome is sent, because the delegate may answer at once.
    const opened = deps.sessions.open(beginning.delegate, {
      tokenId: token.tokenId,
      isEnabled: beginning.isEnabled,
      held: new Map(beginning.held),
      unavailable: hello.unavailable,
      heardAt: deps.clock.elapsed(),
      ping: () => socket.ping(),
      send,
      sent: (message) => sentOver(socket, message),
      refuse,
      close: () => socket.terminate(),
      stands: () => standsOrEnds(deps, connection, id),
    });
    session = opened;
    deps.connections.begun(connection);
    for (const message of beginning.messages)
      if (message.kind === "run") deps.deliver(toOf(opened), message);
      else send(message);
    for (const lost of beginning.lost) await endAsLost(deps, lost, restarted(hello.name));
    if (beginning.lost.length > 0) await knowBoot(deps.db, accountId, id, hello.bootId);
    // The delegate may also have disconnected just now.
    if (!deps.sessions.isOpen(opened)) return;
    const { name, tags, slots } = opened.delegate;
    deps.log.info({ delegate: name, host: hello.host, tags, slots, kept: beginning.held.size }, "delegate connected");
    await deps.stateRefresher.check(opened);
    await deps.dispatch.pull(opened);
  }

  async function take(message: ToServer): Promise<void> {
    if (!session) {
      if (message.kind !== "hello") throw problem("delegate.illegal_message", [`${message.kind} before hello`]);
      return begin(message);
    }
    session.heardAt = deps.clock.elapsed();
    switch (message.kind) {
      case "hello":
        throw problem("delegate.illegal_message", ["a second hello"]);
      case "heartbeat":
        return takeHeartbeat(deps, session, message.unavailable);
      case "log":
      case "finished":
      case "returned":
        return answer(session, await takeOfTask(deps, session, message));
    }
  }

  function answer(to: Session, message: ToDelegate & { readonly task: string }): void {
    send(message);
    if (message.kind === "logAck") return;
    const id = fromWire(message.task);
    if (id) to.held.delete(id);
    deps.dispatch.slotFreed(to);
  }

  function fail(error: unknown): void {
    if (error instanceof Problem && error.status < 500) {
      deps.log.warn({ code: error.code, delegate: session?.delegate.name }, error.message);
      // This close code ends the delegate for good, so it is only for connections that were never admitted.
      if (!session) send({ kind: "refused", code: error.wire, message: error.message });
    } else {
      deps.log.error({ err: error, delegate: session?.delegate.name }, "a message of a delegate could not be taken");
    }
    // The delegate reconnects and repeats every message without an acknowledgement.
    socket.close();
  }

  takeInOrder(socket, (message) => asDelegate(token.tokenId, session?.delegate.id, () => take(message)), fail);
  socket.on("pong", () => {
    if (session) session.heardAt = deps.clock.elapsed();
  });
  socket.on("error", (error) => deps.log.warn({ err: error }, "the connection of a delegate failed"));
  deps.connections.opened(connection);
  deps.stateRefresher.admitted(connection);
  socket.on("close", () => {
    deps.connections.closed(connection);
    if (session) endSession(deps, session);
  });
}

type OfTask = Extract<ToServer, { kind: "log" | "finished" | "returned" }>;

async function takeOfTask(deps: SocketDeps, session: Session, message: OfTask): Promise<ToDelegate & { task: string }> {
  // It was never sent a task, and its welcome named those to drop.
  if (!session.isEnabled) throw problem("delegate.illegal_message", [`${message.kind} before its approval`]);
  if (!(await isTaskOf(deps, session, message))) return drop(message);
  switch (message.kind) {
    case "log":
      return takeLog(deps, session, message);
    case "finished":
      return takeFinished(deps, session, message);
    case "returned":
      return takeReturned(deps, session, message);
  }
}

function endSession({ sessions, dispatch, log }: SocketDeps, session: Session): void {
  sessions.closed(session);
  dispatch.sessionClosed(session);
  log.info({ delegate: session.delegate.name }, "delegate disconnected");
}

async function takeHeartbeat(
  { db, clock, presence, dispatch }: SocketDeps,
  session: Session,
  unavailable: string | undefined,
): Promise<void> {
  const isBack = session.unavailable !== undefined && unavailable === undefined;
  session.unavailable = unavailable;
  session.unsavedSince ??= clock.elapsed();
  try {
    await markSeen(db, session.delegate.accountId, session.delegate.id, clock.now(), unavailable ?? null);
  } catch (error) {
    presence.interrupted();
    throw error;
  }
  session.unsavedSince = undefined;
  if (isBack) dispatch.slotFreed(session);
}

async function standsOrEnds(
  { db, clock }: Pick<SocketDeps, "db" | "clock">,
  connection: Connection,
  delegateId: Uuid,
): Promise<boolean> {
  const stands = await isEntitled(db, { ...connection, delegateId }, clock.now());
  if (!stands) connection.end();
  return stands;
}

/** False if the message was not sent. */
const sentOver = (socket: WebSocket, message: ToDelegate): Promise<boolean> =>
  new Promise((resolve) => {
    if (socket.readyState !== socket.OPEN) return resolve(false);
    socket.send(JSON.stringify(toDelegate.parse(message)), (error) => resolve(!error));
  });

const restarted = (name: string): TaskEnd => ({
  kind: "lost",
  type: "DelegateRestart",
  message: `The machine of delegate ${name} restarted; whether the step had begun cannot be told.`,
});
