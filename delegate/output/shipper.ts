import type { ToServer } from "../../protocol/messages.ts";
import { MAX_CHUNK } from "../../protocol/messages.ts";
import { sendableLength, readSlice } from "./slice.ts";

type Finished = Extract<ToServer, { kind: "finished" }>;
export type End = Pick<Finished, "startedAt" | "endedAt" | "outcome">;
export type Lease = { readonly task: string; readonly epoch: number };

/** The way to the server while a connection stands. */
export type Link = {
  readonly send: (message: ToServer) => void;
  /** More waits to be written to the network than should: send log messages later. */
  readonly isBusy: () => boolean;
};

/** Bytes of output on their way without an ack, per task; the memory a step's output can take. */
const MAX_UNACKNOWLEDGED = 4 * MAX_CHUNK;

export type Shipper = {
  /** A connection stands; the server has committed `offset` bytes. */
  readonly connect: (link: Link, offset: number) => void;
  readonly disconnect: () => void;
  /** Sends what there is to send now. */
  readonly sendAvailable: () => void;
  /** The server has committed up to here. False: it cannot have, we have not sent that much. */
  readonly acknowledge: (offset: number) => boolean;
  /** Nothing more is written to the output; the rest goes with the end. */
  readonly end: (end: End) => void;
};

/** Ships one task's output file, and its end, by offset. What is not acked stays in the file and nowhere else. */
export function createShipper(lease: Lease, file: string): Shipper {
  let link: Link | undefined;
  let sent = 0;
  let committed = 0;
  let end: End | undefined;
  let endSent = false;

  /** One message; false when there is nothing to send or when it must wait. */
  const sendNext = (to: Link): boolean => {
    const slice = readSlice(file, sent);
    if (end && slice.available <= MAX_CHUNK) {
      to.send({ kind: "finished", ...lease, offset: sent, data: slice.bytes.toString("base64"), ...end });
      endSent = true;
      return false;
    }
    // One message may always be on its way: its ack is what wakes us again.
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
