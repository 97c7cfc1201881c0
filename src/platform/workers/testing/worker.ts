/** A worker that does what a test says. */
import { threadId } from "node:worker_threads";
import { Problem } from "../../../core/problem.ts";
import { answerMessages } from "../outcome.ts";

const works = {
  thread: () => threadId,
  environment: () => Object.keys(process.env),
  refuse: () => {
    const faults = [{ path: "a.b", message: "wrong", line: 1, column: 2 }];
    throw new Problem("test.no", 400, "NO", "It is refused.", { faults });
  },
  fail: () => {
    throw new Error("broken");
  },
  loop: () => {
    for (;;);
  },
  exit: () => process.exit(3),
  hoard: () => {
    const kept: string[][] = [];
    for (;;) kept.push(Array.from({ length: 10_000 }, (_, nth) => `${nth}`));
  },
} as const;

answerMessages((message) => works[(message as { readonly does: keyof typeof works }).does]());
