/** Reads a part of an output file, and cuts it where a message may end. For the shipper and the masking. */
import { closeSync, readSync } from "node:fs";
import { MAX_CHUNK } from "../../protocol/messages.ts";
import { openRegular } from "../regular-file.ts";

const NEWLINE = 0x0a;

/** `bytes`: at most MAX_CHUNK bytes from an offset. `available`: all bytes from the offset to the end of the file. */
export type Slice = { readonly bytes: Buffer; readonly available: number };

const EMPTY_SLICE: Slice = { bytes: Buffer.alloc(0), available: 0 };

/**
 * Reads a slice without an open descriptor afterwards: a delegate may have thousands of ended tasks while the server is
 * unreachable.
 */
export function readSlice(path: string, offset: number): Slice {
  const opened = openRegular(path);
  if (!opened) return EMPTY_SLICE;
  const { fd, stat } = opened;
  try {
    const available = Math.max(0, stat.size - offset);
    if (available === 0) return EMPTY_SLICE;
    const bytes = Buffer.allocUnsafe(Math.min(available, MAX_CHUNK));
    return { bytes: bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, offset)), available };
  } finally {
    closeSync(fd);
  }
}

/**
 * Bytes of the slice to send while more may follow: whole characters, and whole
 * lines if the output exceeds one message.
 */
export function sendableLength({ bytes, available }: Slice): number {
  if (available > bytes.length) {
    const line = bytes.lastIndexOf(NEWLINE) + 1;
    if (line > 0) return line;
  }
  return wholeCharactersLength(bytes);
}

/** The length without an unfinished UTF-8 character at the end; bytes that are no UTF-8 are left as they are. */
export function wholeCharactersLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const size =
      byte >= 0xf0 && byte < 0xf8 ? 4 : byte >= 0xe0 && byte < 0xf0 ? 3 : byte >= 0xc0 && byte < 0xe0 ? 2 : 1;
    return size > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
