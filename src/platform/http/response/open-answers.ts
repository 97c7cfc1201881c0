/**
 * Bounds the answers that a client has not taken, because each uses memory: the number of requests in progress, of
 * downloads and event streams, which are read while they are sent, and the size of whole answers. A download or an event
 * stream whose client takes nothing is closed.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { actorId } from "../../../core/actor.ts";
import type { Problem } from "../../../core/problem.ts";
import { addToSum } from "../../add-to-sum.ts";
import { problem } from "../problems.ts";

export type OpenKind = "downloads" | "event streams";

/** A download uses about half a megabyte at most, an event stream a megabyte. */
const MOST = {
  // Those in progress, downloads and event streams among them.
  requests: { ofCaller: 256, ofAll: Infinity },
  downloads: { ofCaller: 16, ofAll: 256 },
  "event streams": { ofCaller: 100, ofAll: 1_000 },
} as const;
const STALLED_MS = 60_000;
/** Characters of large whole answers that a caller, or all callers, have not taken. One answer may exceed it. */
const MOST_PENDING = { ofCaller: 64 * 1024 * 1024, ofAll: 256 * 1024 * 1024 } as const;
/** Smaller answers are not counted; larger ones than LARGE are refused if all callers together have too much. */
const COUNTED = 4 * 1024;
const LARGE = 64 * 1024;
const RETRY_SECONDS = 5;

type OpenAnswer = {
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** Bytes of the connection that the operating system had taken at `since`, a time by `elapsed`. */
  taken: number;
  since: number;
};

/** The key of a request's caller; "" without one. */
export function callerKeyOf(request: FastifyRequest): string {
  const { actor } = request;
  return actor ? (request.callerKey ??= `${actor.accountId} ${actorId(actor)}`) : "";
}

declare module "fastify" {
  interface FastifyRequest {
    /** Computed at the first use. */
    callerKey: string | undefined;
  }
}

export type OpenAnswers = ReturnType<typeof createOpenAnswers>;

export function createOpenAnswers(elapsed: () => number) {
  const count = createCounter();
  const pending = createPendingSizes();
  const watch = createStallWatch(elapsed);

  return {
    /**
     * Counts a request with an actor until its answer was sent. Throws `http.not_taken` for a caller that has not taken its
     * earlier answers, and `http.too_many_open`.
     */
    addRequest(reply: FastifyReply): void {
      const refused = pending.refusalOf(reply.request);
      if (refused) throw refused;
      count("requests", reply);
    },
    /**
     * Counts a download or event stream, and limits the time in which its client takes nothing. Throws
     * `http.too_many_open`, `http.too_many_open_in_all`.
     */
    add(kind: OpenKind, reply: FastifyReply): void {
      count(kind, reply);
      watch.add(reply);
    },
    /**
     * Counts an answer that is sent as a whole, and limits the time in which its client takes nothing. Returns the
     * refusal to send in its place if too much is pending; requests at once have passed `refusalOf` together.
     */
    addWhole(reply: FastifyReply, size: number): Problem | undefined {
      const { request, raw: response } = reply;
      if (size < COUNTED || response.destroyed) return undefined;
      // Large answers without a caller are files, which all clients share.
      if (request.actor) {
        const refused = pending.refusalOf(request) ?? (size < LARGE ? undefined : pending.refusalOfAll());
        if (refused) return refused;
        pending.add(reply, size);
      }
      // Node closes the connection then. It sees the progress within one write, and resets the time after the answer.
      request.raw.socket.setTimeout(STALLED_MS);
      return undefined;
    },
    /** Closes the downloads and event streams whose clients have taken nothing for a minute. */
    closeStalled: (): void => watch.closeStalled(),
  };
}

/**
 * Returns a function that counts an answer until its response is closed. It throws `http.too_many_open`,
 * `http.too_many_open_in_all`.
 */
function createCounter() {
  /** Numbers by kind, and by kind and caller. */
  const numbers = new Map<string, number>();

  return (kind: keyof typeof MOST, { request, raw: response }: FastifyReply): void => {
    const keys = [kind, `${kind} of ${callerKeyOf(request)}`] as const;
    const [all, own] = keys.map((key) => numbers.get(key) ?? 0) as [number, number];
    const most = MOST[kind];
    if (own >= most.ofCaller) throw problem("http.too_many_open", [String(own), kind], { retryAfter: RETRY_SECONDS });
    if (all >= most.ofAll)
      throw problem("http.too_many_open_in_all", [String(all), kind], { retryAfter: RETRY_SECONDS });
    // The client may have closed the connection before the handler ended.
    if (response.destroyed) return;
    for (const key of keys) addToSum(numbers, key, 1);
    response.once("close", () => {
      for (const key of keys) addToSum(numbers, key, -1);
    });
  };
}

/** Counts the characters of large whole answers that have not been taken, by caller. */
function createPendingSizes() {
  const sizes = new Map<string, number>();

  return {
    /** The refusal of a request whose caller has not taken its earlier answers. */
    refusalOf(request: FastifyRequest): Problem | undefined {
      if (!request.actor) return undefined;
      const size = sizes.get(callerKeyOf(request)) ?? 0;
      return size > MOST_PENDING.ofCaller ? problem("http.not_taken", [], { retryAfter: RETRY_SECONDS }) : undefined;
    },
    /** The refusal of a large answer while all callers together have not taken too much. */
    refusalOfAll(): Problem | undefined {
      const size = [...sizes.values()].reduce((sum, one) => sum + one, 0);
      return size > MOST_PENDING.ofAll
        ? problem("http.not_taken_in_all", [], { retryAfter: RETRY_SECONDS })
        : undefined;
    },
    /** Counts an answer until its response is closed. */
    add({ request, raw: response }: FastifyReply, size: number): void {
      const caller = callerKeyOf(request);
      addToSum(sizes, caller, size);
      response.once("close", () => addToSum(sizes, caller, -size));
    },
  };
}

/** Watches the progress of downloads and event streams. */
function createStallWatch(elapsed: () => number) {
  const open = new Set<OpenAnswer>();

  /** Whether the client has taken nothing of the pending bytes for `STALLED_MS`. */
  function checkStalled(answer: OpenAnswer): boolean {
    const { response, socket } = answer;
    const taken = socket.bytesWritten - socket.writableLength;
    if (response.writableLength > 0 && taken === answer.taken) return elapsed() - answer.since >= STALLED_MS;
    answer.taken = taken;
    answer.since = elapsed();
    return false;
  }

  return {
    /** Watches an answer until its response is closed. */
    add({ request, raw: response }: FastifyReply): void {
      if (response.destroyed) return;
      const answer: OpenAnswer = { response, socket: request.raw.socket, taken: -1, since: elapsed() };
      open.add(answer);
      response.once("close", () => open.delete(answer));
    },
    closeStalled(): void {
      for (const answer of open) if (checkStalled(answer)) answer.socket.destroy();
    },
  };
}
