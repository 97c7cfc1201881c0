/** One connection of a delegate, from its hello to its end. protocol/messages.ts describes the order of messages. */
import type { WebSocket } from "ws";
import { toDelegate, type ToDelegate, type ToServer } from "../../protocol/messages.ts";
import { encodeForDelegate, PROTOCOL } from "../../protocol/versions.ts";
import type { Audit } from "../audit/index.ts";
import type { Clock } from "../core/clock.ts";
import { fromWire, type NewId } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import { asDelegate } from "../platform/db/pool/budget.ts";
import type { Log } from "../platform/log/log.ts";
import type { CurrentSettings } from "../settings/index.ts";
import { problem } from "./problems.ts";
import { processHello } from "./session/process-hello.ts";
import type { Connection, Connections } from "./session/connections.ts";
import type { SilenceTracker } from "./session/silence-tracker.ts";
import { receiveMessages } from "./session/receive-messages.ts";
import {
  dropOf,
  endLostTask,
  isOrWasLeasedTo,
  processFinished,
  processLog,
  type ProcessDeps,
  type TaskResponse,
} from "./session/process-task-messages.ts";
import { processReturned } from "./session/process-returned.ts";
import type { Session, Sessions } from "./session/sessions.ts";
import type { StateRefresher } from "./session/state-refresher.ts";
import { markSeen, saveBoot } from "./store/delegates.ts";
import { isEntitled, type TokenKey } from "./store/token-validity.ts";
import type { TaskEnd } from "./task.ts";
import { recipientOf, type Deliver } from "./tasks/deliver.ts";
import type { Dispatch } from "./tasks/dispatch.ts";

export type ConversationDeps = ProcessDeps & {
  readonly connections: Connections;
  readonly sessions: Sessions;
  readonly dispatch: Dispatch;
  readonly stateRefresher: Pick<StateRefresher, "connectionOpened" | "sessionOpened">;
  readonly deliver: Deliver;
  readonly audit: Audit;
  readonly currentSettings: CurrentSettings;
  readonly silenceTracker: Pick<SilenceTracker, "restart">;
  readonly newId: NewId;
  readonly clock: Clock;
  readonly log: Log;
};

/** The state of one connection. It has a session from the answer to its hello on. */
type Conversation = {
  readonly deps: ConversationDeps;
  readonly token: TokenKey;
  readonly socket: WebSocket;
  readonly connection: Connection;
  session: Session | undefined;
};

type Hello = Extract<ToServer, { kind: "hello" }>;
type TaskMessage = Extract<ToServer, { kind: "log" | "finished" | "returned" }>;
/** Processes the messages of an authenticated connection until it closes. */
export function startConversation(deps: ConversationDeps, token: TokenKey, socket: WebSocket): void {
  const connection: Connection = {
    ...token,
    openedAt: deps.clock.elapsed(),
    isHelloReceived: false,
    end: () => {
      // Removed at once, so that no task is leased to it while the socket closes.
      if (conversation.session) deps.sessions.remove(conversation.session);
      socket.terminate();
    },
  };
  const conversation: Conversation = { deps, token, socket, connection, session: undefined };

  receiveMessages(
    socket,
    (message) =>
      asDelegate(token.tokenId, conversation.session?.delegate.id, () => processMessage(conversation, message)),
    (error) => closeAfterError(conversation, error),
  );
  socket.on("pong", () => {
    if (conversation.session) conversation.session.lastReceivedAt = deps.clock.elapsed();
  });
  socket.on("error", (error) => deps.log.warn({ err: error }, "the connection of a delegate failed"));
  deps.connections.add(connection);
  deps.stateRefresher.connectionOpened(connection);
  socket.on("close", () => {
    deps.connections.remove(connection);
    if (conversation.session) endSession(deps, conversation.session);
  });
}

async function processMessage(conversation: Conversation, message: ToServer): Promise<void> {
  const { deps, session } = conversation;
  if (!session) {
    if (message.kind !== "hello") throw problem("delegate.illegal_message", [`${message.kind} before hello`]);
    return startSession(conversation, message);
  }
  session.lastReceivedAt = deps.clock.elapsed();
  switch (message.kind) {
    case "hello":
      throw problem("delegate.illegal_message", ["a second hello"]);
    case "heartbeat":
      return processHeartbeat(deps, session, message.unavailable);
    case "log":
    case "finished":
    case "returned":
      return sendAnswer(conversation, session, await processTaskMessage(deps, session, message));
  }
}

async function startSession(conversation: Conversation, hello: Hello): Promise<void> {
  const { deps, token, socket, connection } = conversation;
  connection.isHelloReceived = true;
  const start = await processHello(deps, token, hello);
  // The delegate may have disconnected meanwhile. Its close event is over, so a session would never be closed. Its
  // leases stay with it: a later connection may run them already.
  if (socket.readyState !== socket.OPEN) return;
  // Opened before the welcome is sent, because the delegate may answer at once.
  const session = deps.sessions.open(start.delegate, {
    tokenId: token.tokenId,
    isEnabled: start.isEnabled,
    leasedTasks: new Map(start.leasedTasks),
    unavailableReason: hello.unavailable,
    lastReceivedAt: deps.clock.elapsed(),
    ping: () => socket.ping(),
    send: (message) => send(socket, message, start.protocol),
    sendAndFlush: (message) => sendAndFlush(socket, message, start.protocol),
    endUnsentTask: (task, end) => endUnsentTask(conversation, task, end),
    close: () => socket.terminate(),
    verifyEntitlement: () => verifyEntitlement(deps, connection, start.delegate),
  });
  conversation.session = session;
  deps.connections.sessionStarted(connection);
  for (const message of start.messages)
    if (message.kind === "run") deps.deliver(recipientOf(session), message);
    else session.send(message);
  if (start.returned.length > 0)
    deps.dispatch.tasksReturned(
      token.accountId,
      start.returned.map(({ runId }) => runId),
    );
  for (const lost of start.lost) await endLostTask(deps, { ...lost, delegate: hello.name }, restartOf(hello.name));
  if (start.lost.length > 0) await saveBoot(deps.db, start.delegate, hello.bootId);
  // The delegate may also have disconnected just now.
  if (!deps.sessions.isOpen(session)) return;
  const { name, tags, slots, capabilities } = session.delegate;
  const spoken = { protocol: start.protocol, capabilities };
  const kept = start.leasedTasks.size;
  deps.log.info({ delegate: name, host: hello.host, tags, slots, kept, ...spoken }, "delegate connected");
  await deps.stateRefresher.sessionOpened(session);
  await deps.dispatch.pull(session);
}

async function processHeartbeat(
  { db, clock, silenceTracker, dispatch }: ConversationDeps,
  session: Session,
  unavailable: string | undefined,
): Promise<void> {
  const isAvailableAgain = session.unavailableReason !== undefined && unavailable === undefined;
  session.unavailableReason = unavailable;
  session.heartbeatUnsavedSince ??= clock.elapsed();
  try {
    await markSeen(db, session.delegate, { at: clock.now(), unavailable: unavailable ?? null });
  } catch (error) {
    silenceTracker.restart();
    throw error;
  }
  session.heartbeatUnsavedSince = undefined;
  if (isAvailableAgain) dispatch.slotFreed(session);
}

async function processTaskMessage(
  deps: ConversationDeps,
  session: Session,
  message: TaskMessage,
): Promise<TaskResponse> {
  // It was never sent a task, and its welcome named those to drop.
  if (!session.isEnabled) throw problem("delegate.illegal_message", [`${message.kind} before its approval`]);
  if (!(await isOrWasLeasedTo(deps, session, message))) return dropOf(message);
  switch (message.kind) {
    case "log":
      return processLog(deps, session, message);
    case "finished":
      return processFinished(deps, session, message);
    case "returned":
      return processReturned(deps, session, message);
  }
}

function sendAnswer({ deps }: Conversation, session: Session, answer: TaskResponse): void {
  session.send(answer);
  if (answer.kind === "logAck") return;
  const id = fromWire(answer.task);
  // The delegate may have leased the task again since an older epoch.
  if (id && session.leasedTasks.get(id)?.epoch === answer.epoch) session.leasedTasks.delete(id);
  deps.dispatch.slotFreed(session);
}

/** Ends a task whose secrets are refused before it is sent. */
async function endUnsentTask(
  { deps, session }: Conversation,
  { task, epoch }: { readonly task: string; readonly epoch: number },
  end: TaskEnd,
): Promise<void> {
  const id = fromWire(task);
  const runId = id && session?.leasedTasks.get(id)?.runId;
  if (!session || !id || !runId) return;
  const { accountId, name: delegate } = session.delegate;
  await endLostTask(deps, { accountId, id, runId, epoch, delegate }, end);
  session.leasedTasks.delete(id);
  deps.dispatch.slotFreed(session);
}

/** Checks in the database that the token is valid and the delegate enabled; ends the connection if not. */
async function verifyEntitlement(
  { db, clock }: Pick<ConversationDeps, "db" | "clock">,
  connection: Connection,
  delegate: Session["delegate"],
): Promise<boolean> {
  const { accountId, tokenId } = connection;
  const isStillEntitled = await isEntitled(db, { accountId, tokenId, delegateId: delegate.id }, clock.now());
  if (!isStillEntitled) connection.end();
  return isStillEntitled;
}

/** Ends the connection after a message that could not be processed. */
function closeAfterError({ deps, socket, session }: Conversation, error: unknown): void {
  if (error instanceof Problem && error.status < 500) {
    deps.log.warn({ code: error.code, delegate: session?.delegate.name }, error.message);
    // This close code ends the delegate for good, so it is only for connections that were never admitted.
    if (!session) send(socket, { kind: "refused", code: error.wire, message: error.message }, PROTOCOL.min);
  } else {
    deps.log.error({ err: error, delegate: session?.delegate.name }, "a message of a delegate could not be taken");
  }
  // The delegate reconnects and repeats every message without an acknowledgement.
  socket.close();
}

function endSession({ sessions, dispatch, log }: ConversationDeps, session: Session): void {
  sessions.remove(session);
  dispatch.sessionClosed(session);
  log.info({ delegate: session.delegate.name }, "delegate disconnected");
}

/** False if the connection is closed. */
function send(socket: WebSocket, message: ToDelegate, protocol: number): boolean {
  if (socket.readyState !== socket.OPEN) return false;
  socket.send(encode(message, protocol));
  return true;
}

/** False if the message was not sent. */
const sendAndFlush = (socket: WebSocket, message: ToDelegate, protocol: number): Promise<boolean> =>
  new Promise((resolve) => {
    if (socket.readyState !== socket.OPEN) return resolve(false);
    socket.send(encode(message, protocol), (error) => resolve(!error));
  });

const encode = (message: ToDelegate, protocol: number): string =>
  JSON.stringify(encodeForDelegate(toDelegate.parse(message), protocol));

const restartOf = (name: string): TaskEnd => ({
  kind: "lost",
  type: "DelegateRestart",
  message: `The machine of delegate ${name} restarted, or its work folder is another; whether the step had begun cannot be told.`,
});
