/** Appends to a journal (journal.ts). Few imports: the launcher needs it too. */
import { closeSync, constants, fstatSync, readSync, writeSync } from "node:fs";
import { openForWriting } from "../regular-file.ts";

const NEWLINE = 0x0a;
/**
 * Ends a line that a full disk has cut off: without it the next word would continue that line, and with a newline alone
 * `exit 137` could be read as `exit 1`. No word has this character.
 */
export const CUT_LINE_END = "~\n";

/** Opens a journal for `appendWords`. @throws the system's error, or when it is no regular file */
export function openJournal(path: string): number {
  const fd = openForWriting(path, constants.O_RDWR | constants.O_APPEND);
  if (fstatSync(fd).nlink === 1) return fd;
  closeSync(fd);
  throw new Error(`${path} is not the file that the delegate has made`);
}

/** Appends whole words, each with its newline. @throws the system's error; the call can be repeated */
export function appendWords(journal: number, words: string): void {
  const text = Buffer.from(endsWithNewline(journal) ? words : `${CUT_LINE_END}${words}`);
  for (let done = 0; done < text.length;) done += writeSync(journal, text, done);
}

function endsWithNewline(journal: number): boolean {
  const last = Buffer.alloc(1);
  const { size } = fstatSync(journal);
  return size === 0 || readSync(journal, last, 0, 1, size - 1) === 0 || last[0] === NEWLINE;
}
