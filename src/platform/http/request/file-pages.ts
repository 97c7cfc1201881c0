/** Stores received bytes in pages, so that small chunks take no more memory than large ones. */

import { forget } from "../../forget.ts";

const FIRST_PAGE = 1024;
const LARGEST_PAGE = 64 * 1024;

/** The part `file` of a form. Its pages are released after the answer; a caller that needs them longer copies them. */
export type UploadedFile = { readonly size: number; readonly pages: readonly Buffer[] };

/** Memory budget in bytes, shared by all readers of forms. */
export type Room = { readonly take: (bytes: number) => boolean; readonly give: (bytes: number) => void };

/** Budget for this number of files of the largest size; the last page of each may be almost empty. */
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
  /** False if the budget is exhausted; earlier bytes stay. */
  readonly add: (piece: Buffer) => boolean;
  readonly size: () => number;
  readonly list: () => readonly Buffer[];
  /** Overwrites the bytes, which may be a secret, and returns the memory to the budget. */
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
