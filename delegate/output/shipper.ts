/**
 * Sends one task's output and end to the server, by offset, and continues after a lost connection. output-channel.ts
 * drives it.
 */
import type { ToServer } from "../../protocol/messages.ts";
import { MAX_CHUNK } from "../../protocol/messages.ts";
import { sendableLength, readSlice } from "./slice.ts";

type Finished = Extract<ToServer, { kind: "finished" }>;
/** When and how a task ended. Times in epoch milliseconds. */
export type End = Pick<Finished, "startedAt" | "endedAt" | "outcome">;
/** One assignment of a task to this delegate. The server raises `epoch` when it leases the task again. */
export type Lease = { readonly task: string; readonly epoch: number };

/** The connection to the server while it is open. */
export type Link = {
  readonly send: (message: ToServer) => void;
  /** The socket's buffer is too full: send log messages later. */
  readonly isBusy: () => boolean;
};

/** Bytes of output sent without an ack, for each task: the limit of a step's memory in the delegate. */
const MAX_UNACKNOWLEDGED = 4 * MAX_CHUNK;

export type Shipper = {
  /** Starts sending on a new connection; the server has committed `offset` bytes. */
  readonly connect: (link: Link, offset: number) => void;
  readonly disconnect: () => void;
  /** Sends the output that is available. */
  readonly sendAvailable: () => void;
  /** Records that the server has committed up to `offset`. False: fewer bytes were sent. */
  readonly acknowledge: (offset: number) => boolean;
  /** Sends the rest of the output and the end. The output is complete. */
  readonly end: (end: End) => void;
};

/** Sends one task's output file and its end, by offset. Unacknowledged bytes stay in the file only. */
export function createShipper(lease: Lease, file: string): Shipper {
  let link: Link | undefined;
  let sent = 0;
  let committed = 0;
  let end: End | undefined;
  let endSent = false;

  /** Sends one message; false if there is none to send or it has to wait. */
  const sendNext = (to: Link): boolean => {
    const slice = readSlice(file, sent);
    if (end && slice.available <= MAX_CHUNK) {
      to.send({ kind: "finished", ...lease, offset: sent, data: slice.bytes.toString("base64"), ...end });
      endSent = true;
      return false;
    }
    // One message may always be unacknowledged: its ack continues the sending.
    if (sent - committed >= (to.isBusy() ? 1 : MAX_UNACKNOWLEDGED)) return false;
    const length = sendableLength(slice);
    if (length === 0) return false;
    to.send({ kind: "log", ...lease, offset: sent, data: slice.bytes.toString("base64", 0, length) });
    sent += length;
    return true;
  };

  const sendAvailable = (): void => {
    while (link && !endSent && sendNext(link));
  };

  return {
    connect: (to, offset) => {
      link = to;
      sent = committed = offset;
      endSent = false;
      sendAvailable();
    },
    disconnect: () => {
      link = undefined;
    },
    sendAvailable,
    acknowledge: (offset) => {
      if (offset > sent) return false;
      committed = Math.max(committed, offset);
      sendAvailable();
      return true;
    },
    end: (value) => {
      end = value;
      sendAvailable();
    },
  };
}
