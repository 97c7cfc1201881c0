/**
 * Bounds the answers that are read while they are sent: downloads and event streams. Each uses memory until its client
 * takes it. Their number is bounded, and an answer whose client takes nothing is closed.
 */
import type { FastifyReply } from "fastify";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { actorId } from "../../../core/actor.ts";
import { problem } from "../problems.ts";

export type OpenKind = "downloads" | "event streams";

/** A download uses about half a megabyte at most, an event stream a megabyte. */
const MOST: Readonly<Record<OpenKind, { readonly ofCaller: number; readonly ofAll: number }>> = {
  downloads: { ofCaller: 16, ofAll: 256 },
  "event streams": { ofCaller: 100, ofAll: 1_000 },
};
const STALLED_MS = 60_000;
const RETRY_SECONDS = 5;

type OpenAnswer = {
  readonly kind: OpenKind;
  readonly caller: string;
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** Bytes of the connection that the operating system had taken at `since`, a time by `elapsed`. */
  taken: number;
  since: number;
};

export type OpenAnswers = ReturnType<typeof createOpenAnswers>;

export function createOpenAnswers(elapsed: () => number) {
  const open = new Set<OpenAnswer>();

  function refuseTooMany(kind: OpenKind, caller: string): void {
    const most = MOST[kind];
    const all = [...open].filter((one) => one.kind === kind);
    const own = all.filter((one) => one.caller === caller).length;
    if (own >= most.ofCaller) throw problem("http.too_many_open", [String(own), kind], { retryAfter: RETRY_SECONDS });
    if (all.length >= most.ofAll)
      throw problem("http.too_many_open_in_all", [String(all.length), kind], { retryAfter: RETRY_SECONDS });
  }

  /** Whether the client has taken nothing of the pending bytes for `STALLED_MS`. */
  function isStalled(answer: OpenAnswer): boolean {
    const { response, socket } = answer;
    const taken = socket.bytesWritten - socket.writableLength;
    if (response.writableLength > 0 && taken === answer.taken) return elapsed() - answer.since >= STALLED_MS;
    answer.taken = taken;
    answer.since = elapsed();
    return false;
  }

  return {
    /** Counts an answer until its response is closed. Throws `http.too_many_open`, `http.too_many_open_in_all`. */
    add(kind: OpenKind, { request, raw: response }: FastifyReply): void {
      const { actor, raw } = request;
      const caller = actor ? `${actor.accountId} ${actorId(actor)}` : "";
      refuseTooMany(kind, caller);
      // The client may have closed the connection before the handler ended.
      if (response.destroyed) return;
      const answer: OpenAnswer = { kind, caller, response, socket: raw.socket, taken: -1, since: elapsed() };
      open.add(answer);
      response.once("close", () => open.delete(answer));
    },
    /** Closes the answers whose clients have taken nothing for a minute. */
    closeStalled(): void {
      for (const answer of open) if (isStalled(answer)) answer.socket.destroy();
    },
  };
}
