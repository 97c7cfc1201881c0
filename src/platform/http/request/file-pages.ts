/** Bytes that arrive in pieces, held once: what comes in crumbs takes no more room than what comes whole. */

import { forget } from "../../forget.ts";

const FIRST_PAGE = 1024;
const LARGEST_PAGE = 64 * 1024;

/** The part `file` of a form. They are gone when the request is answered: whoever keeps them, copies them. */
export type UploadedFile = { readonly size: number; readonly pages: readonly Buffer[] };

/** How many bytes may be held at a time by all who share it. */
export type Room = { readonly take: (bytes: number) => boolean; readonly give: (bytes: number) => void };

/** Room for so many files of that size: the last page of each may be almost empty. */
export function createRoom(files: number, bytes: number): Room {
  let free = files * (bytes + LARGEST_PAGE);
  return {
    take(wanted) {
      if (wanted > free) return false;
      free -= wanted;
      return true;
    },
    give: (given) => void (free += given),
  };
}

export type Pages = {
  /** False when there is no room for it; what was added before stays. */
  readonly add: (piece: Buffer) => boolean;
  readonly size: () => number;
  readonly list: () => readonly Buffer[];
  /** Forgets what is held, for it may be a secret, and gives the room back. */
  readonly wipe: () => void;
};

export function createPages(room: Room): Pages {
  let pages: Buffer[] = [];
  let [size, held, free] = [0, 0, 0];
  const grow = (): boolean => {
    const bytes = Math.min(LARGEST_PAGE, Math.max(FIRST_PAGE, held));
    if (!room.take(bytes)) return false;
    pages.push(Buffer.alloc(bytes));
    held += bytes;
    free = bytes;
    return true;
  };
  return {
    add(piece) {
      for (let at = 0; at < piece.length;) {
        if (free === 0 && !grow()) return false;
        const page = pages.at(-1) as Buffer;
        const copied = piece.copy(page, page.length - free, at);
        at += copied;
        free -= copied;
        size += copied;
      }
      return true;
    },
    size: () => size,
    list: () => pages.map((page, at) => (at === pages.length - 1 ? page.subarray(0, page.length - free) : page)),
    wipe() {
      for (const page of pages) forget(page);
      room.give(held);
      pages = [];
      [size, held, free] = [0, 0, 0];
    },
  };
}
