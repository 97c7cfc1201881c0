/**
 * A connection whose bytes reach Node's HTTP parser in slices. The parser does not stop within what it gets, and calls
 * for each request and each part of a body: 64 KiB of one-byte parts keep the event loop for 15 milliseconds. Between
 * slices, others have their turn. A body that nothing reads is not parsed further.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** Bytes of a slice. A part of one byte takes six, a request at least 18. */
export const SLICE = 4 * 1024;

/** Milliseconds for which a turn parses further slices: honest senders of large bodies need few turns. */
const TURN_MS = 0.5;

/** Runs the work, which parses a slice, in a turn. `request` is the one whose body the slice continues, if any. */
export type InTurn = (request: IncomingMessage | undefined, work: () => void) => void;

type Done = (error?: Error | null) => void;

/** Has what Node's HTTP server and `ws` use of a socket. */
export class Connection extends Duplex {
  /** Requests without an answer; `bounded-server.ts` bounds them. */
  unanswered = 0;
  readonly #source: Socket;
  readonly #inTurn: InTurn;
  /** The last one whose head was parsed. */
  #request: IncomingMessage | undefined;
  /** What was read of the socket. */
  #unparsed: Buffer | undefined;
  /** Whether Node waits for bytes. */
  #isAwaited = false;
  #isUpgraded = false;
  #hasEnded = false;

  constructor(source: Socket, inTurn: InTurn) {
    super({ decodeStrings: false, readableHighWaterMark: 1 });
    this.#source = source;
    this.#inTurn = inTurn;
    source.on("readable", () => this.#isAwaited && this.#next());
    source.on("end", () => {
      this.#hasEnded = true;
      if (this.#isAwaited) this.#next();
    });
    source.on("timeout", () => this.emit("timeout"));
    source.on("error", (error) => this.destroy(error));
    source.on("close", () => this.destroy());
  }

  /** Called when the head of a request was parsed. */
  begin(request: IncomingMessage): void {
    this.#request = request;
  }

  /** Called when the connection becomes a WebSocket, whose messages have other bounds. */
  upgrade(): void {
    this.#isUpgraded = true;
  }

  get remoteAddress(): string | undefined {
    return this.#source.remoteAddress;
  }

  /** With the `writableLength` bytes that the system has not taken yet. */
  get bytesWritten(): number {
    return this.#source.bytesWritten - this.#source.writableLength + this.writableLength;
  }

  /** In milliseconds. */
  get timeout(): number | undefined {
    return this.#source.timeout;
  }

  setTimeout(ms: number): this {
    this.#source.setTimeout(ms);
    return this;
  }

  setNoDelay(isOn?: boolean): this {
    this.#source.setNoDelay(isOn);
    return this;
  }

  /** Ends the connection after what was written. Node calls it after the last answer. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  override _read(): void {
    this.#isAwaited = true;
    this.#next();
  }

  override _write(part: Buffer | string, encoding: BufferEncoding, done: Done): void {
    this.#write(done, (written) => this.#source.write(part, encoding, written));
  }

  override _writev(parts: { chunk: Buffer | string; encoding: BufferEncoding }[], done: Done): void {
    this.#write(done, (written) => {
      this.#source.cork();
      for (const [nth, { chunk, encoding }] of parts.entries())
        this.#source.write(chunk, encoding, nth === parts.length - 1 ? written : undefined);
      this.#source.uncork();
    });
  }

  /** What the system takes at once is done at once, so that what follows is sent also before a `destroy`. */
  #write(done: Done, write: (written: Done) => void): void {
    let isDone = false;
    const finish: Done = (error) => {
      if (isDone) return;
      isDone = true;
      done(error);
    };
    write(finish);
    const source = this.#source;
    if (source.writableLength === 0 && !source.errored && !source.destroyed) finish();
  }

  override _final(done: () => void): void {
    this.#source.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#unparsed = undefined;
    this.#source.destroy();
    done(error);
  }

  #next(): void {
    this.#unparsed ??= (this.#source.read() as Buffer | null) ?? undefined;
    if (!this.#unparsed) return void (this.#hasEnded && this.push(null));
    this.#isAwaited = false;
    if (this.#isUpgraded) return void this.#parse(Infinity);
    const request = this.#request?.complete === false ? this.#request : undefined;
    this.#inTurn(request, () => this.#parseSlices());
  }

  /** Parses one slice at least. */
  #parseSlices(): void {
    const end = performance.now() + TURN_MS;
    while (this.#parse(SLICE) && performance.now() < end);
  }

  /** Returns whether more can be parsed. */
  #parse(most: number): boolean {
    const bytes = this.#unparsed;
    if (!bytes) return false;
    this.#unparsed = bytes.length > most ? bytes.subarray(most) : undefined;
    const isTaken = this.push(bytes.length > most ? bytes.subarray(0, most) : bytes);
    // Node resumes the connection as soon as something reads the body.
    if (this.#request?.complete === false && this.#request.readableFlowing === null) this.pause();
    return isTaken && !this.isPaused();
  }
}
