import { ApiError } from "./api-error.ts";
import { send, type RequestOf } from "./client.ts";
import type { AnyOperation } from "./operation.ts";
import { parseEvents, type StreamEvent } from "./parse-events.ts";

export type ConnectionState = "connecting" | "open" | "lost" | "ended";

export type StreamHandlers = {
  readonly onEvent: (event: StreamEvent) => void;
  readonly onState?: (state: ConnectionState) => void;
  /** A refusal that another attempt would get, too. */
  readonly onRefused?: (error: ApiError) => void;
};

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** The server sends a comment every 15 seconds; a connection without any byte for this long is dead. */
const SILENCE_MS = 45_000;

/**
 * Follows an event stream until `signal` aborts or the server has sent its end. EventSource cannot send the header
 * that sessions need, so this reads the answer of fetch and reconnects with `Last-Event-ID` as EventSource does.
 */
export async function followStream<Op extends AnyOperation>(
  operation: Op,
  parts: RequestOf<Op>,
  handlers: StreamHandlers,
  signal: AbortSignal,
): Promise<void> {
  let lastId: string | undefined;
  let failures = 0;
  const onEvent = (event: StreamEvent): void => {
    failures = 0;
    lastId = event.id ?? lastId;
    handlers.onEvent(event);
  };
  while (!signal.aborted) {
    handlers.onState?.(failures === 0 ? "connecting" : "lost");
    const outcome = await readOnce(operation, parts as object, { lastId, onEvent, signal, onState: handlers.onState });
    if (signal.aborted) return;
    if (outcome === "ended") return handlers.onState?.("ended");
    if (outcome instanceof ApiError && isFinal(outcome)) {
      handlers.onState?.("ended");
      return handlers.onRefused?.(outcome);
    }
    failures += 1;
    handlers.onState?.("lost");
    await pause(pauseMs(failures, outcome instanceof ApiError ? outcome.retryAfterSeconds : undefined), signal);
  }
}

/** Refusals that do not pass: missing permission, deleted, malformed. */
const isFinal = ({ status }: ApiError): boolean => status >= 400 && status < 500 && status !== 429;

/** Doubles, with a random part, so that all pages do not come back at the same moment. */
const pauseMs = (failures: number, retryAfterSeconds = 0): number =>
  Math.max(
    retryAfterSeconds * 1_000,
    Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)) * (0.5 + Math.random() / 2),
  );

type Reading = {
  readonly lastId: string | undefined;
  readonly onEvent: (event: StreamEvent) => void;
  readonly onState: StreamHandlers["onState"];
  readonly signal: AbortSignal;
};

/** "ended" if the server has nothing more to send, "cut" if the connection broke, or the error of the request. */
async function readOnce(operation: AnyOperation, parts: object, reading: Reading): Promise<"ended" | "cut" | unknown> {
  const silent = new AbortController();
  const signal = AbortSignal.any([reading.signal, silent.signal]);
  let watch: ReturnType<typeof setTimeout> | undefined;
  const onBytes = (): void => {
    clearTimeout(watch);
    watch = setTimeout(() => silent.abort(), SILENCE_MS);
  };
  try {
    onBytes();
    const headers = {
      accept: "text/event-stream",
      ...(reading.lastId === undefined ? {} : { "last-event-id": reading.lastId }),
    };
    const answer = await send(operation, parts, { signal, headers });
    if (answer.status === 204 || answer.body === null) return "ended";
    reading.onState?.("open");
    let hasEnded = false;
    await parseEvents(answer.body, onBytes, (event) => {
      hasEnded ||= event.type === "end";
      reading.onEvent(event);
    });
    return hasEnded ? "ended" : "cut";
  } catch (error) {
    return error;
  } finally {
    clearTimeout(watch);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      globalThis.removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
    globalThis.addEventListener("online", done);
  });
}
