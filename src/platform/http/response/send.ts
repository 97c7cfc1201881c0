/** Sends answers. A stream ends with the credential of its request, and with the actor's access. */
import { addAbortSignal, Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Actor } from "../../../core/actor.ts";
import type { Log } from "../../log/log.ts";
import { streamEvents } from "./events.ts";
import type { OpenAnswers, OpenKind } from "./open-answers.ts";
import type { Answer } from "../routes.ts";

/**
 * Calls `onEnd` within a second after the actor's credential or access ends. Returns a function that stops watching.
 */
export type Watch = (actor: Actor, onEnd: () => void) => () => void;

export type SendDeps = {
  readonly log: Log;
  readonly watch: Watch;
  readonly openAnswers: OpenAnswers;
  /** Aborted when the server begins to stop: event streams end. */
  readonly stopping: AbortSignal;
};

/** Runs work whose statements count towards the share of the request's actor (`src/platform/db/pool/budget.ts`). */
export type InShare = <T>(work: () => T) => T;

/**
 * Sends an answer. A download or an event stream is read while it is sent, in the share as well. Between two reads it
 * has no connection. Throws if too many are open.
 */
export function send(deps: SendDeps, answer: Answer, reply: FastifyReply, inShare: InShare): FastifyReply {
  switch (answer.kind) {
    case "json":
      if (answer.version !== undefined) reply.header("etag", `"${answer.version}"`);
      return reply
        .code(answer.status)
        .headers({ "content-type": "application/json; charset=utf-8", ...answer.headers })
        .send(JSON.stringify(answer.body));
    case "empty":
      for (const [name, value] of Object.entries(answer.headers ?? {})) reply.header(name, value);
      return reply.code(answer.status).send();
    case "text": {
      const whole = typeof answer.body === "string" || Buffer.isBuffer(answer.body);
      const body = whole ? answer.body : streamed(deps, readIn(inShare, answer.body), reply);
      return reply
        .code(answer.status)
        .header("content-type", `${answer.type ?? "text/plain"}; charset=utf-8`)
        .header("x-content-type-options", "nosniff")
        .headers(answer.fileName === undefined ? {} : attachment(answer.fileName))
        .send(body);
    }
    case "events": {
      const welcome = watched(deps, reply, "event streams");
      reply.hijack();
      const over = AbortSignal.any([deps.stopping, welcome.ended]);
      const streaming = streamEvents(reply.raw, over, (sink) => inShare(() => answer.run(sink)))
        .catch((error: unknown) => {
          deps.log.error({ err: error, correlationId: reply.request.id }, "an event stream failed");
        })
        .finally(() => {
          welcome.release();
          reply.server.openStreams.delete(streaming);
        });
      reply.server.openStreams.add(streaming);
      return reply;
    }
  }
}

/** Credentials may come by cookie here, so that no cache may have the answer. */
const attachment = (fileName: string) => ({
  "content-disposition": `attachment; filename="${fileName}"`,
  "cache-control": "no-store",
});

declare module "fastify" {
  interface FastifyInstance {
    /** The open event streams. */
    openStreams: Set<Promise<void>>;
  }
}

/** Time that a stopping server waits for a reader that does not read. */
const PATIENCE_MS = 500;

/**
 * Closes connections after the event streams have ended. A reader that sees the end reconnects with its position; one
 * whose connection breaks may not.
 */
export function endStreamsFirst(app: FastifyInstance): void {
  const streams = new Set<Promise<void>>();
  app.decorate("openStreams", streams);
  app.addHook("preClose", async () => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)));
    await Promise.race([Promise.all(streams), late]);
    clearTimeout(timer);
  });
}

/** The stream asks for each part from a context of its own, so each step enters the share. */
const readIn = <T>(inShare: InShare, parts: AsyncIterable<T>): AsyncIterable<T> => ({
  [Symbol.asyncIterator]: () => {
    const iterator = parts[Symbol.asyncIterator]();
    return {
      next: () => inShare(() => iterator.next()),
      return: async () => (await inShare(() => iterator.return?.())) ?? { done: true, value: undefined },
    };
  },
});

/** Destroyed instead of ended when the credential or the access ends: a partial download must not look complete. */
function streamed(deps: SendDeps, chunks: AsyncIterable<Buffer>, reply: FastifyReply): Readable {
  const welcome = watched(deps, reply, "downloads");
  const body = addAbortSignal(welcome.ended, Readable.from(chunks));
  body.once("close", welcome.release);
  return body;
}

/**
 * Counts an answer as open. `ended` is aborted when the request's credential or the actor's access ends. The caller
 * releases it after the answer. Throws if too many are open.
 */
function watched(
  deps: SendDeps,
  reply: FastifyReply,
  kind: OpenKind,
): { readonly ended: AbortSignal; readonly release: () => void } {
  deps.openAnswers.add(kind, reply);
  const { actor } = reply.request;
  const ended = new AbortController();
  const release = actor ? deps.watch(actor, () => ended.abort()) : () => undefined;
  return { ended: ended.signal, release };
}
