/**
 * Masking a build log in pieces of 64 KiB, as a delegate reads them: with 1, 10 and 100 secrets that the log does not
 * contain, and with 10 secrets of which each line contains one. The floor copies the same pieces. The variants
 * alternate; the figures are medians.
 */
import { randomBytes } from "node:crypto";
import { createMasker } from "../../delegate/mask/masker.ts";
import { createMatcher } from "../../delegate/mask/matcher.ts";
import { withRatio, median, type Bench, type Sizes } from "../runner/result.ts";

const PIECE = 64 * 1024;

const SIZES: Sizes<{ pieces: number; rounds: number; warmUp: number }> = {
  whole: { pieces: 512, rounds: 7, warmUp: 2 },
  brief: { pieces: 8, rounds: 1, warmUp: 1 },
};

type Kind = { readonly name: string; readonly secrets: number; readonly shown: boolean };

const KINDS: readonly Kind[] = [
  { name: "1 secret", secrets: 1, shown: false },
  { name: "10 secrets", secrets: 10, shown: false },
  { name: "100 secrets", secrets: 100, shown: false },
  { name: "10 secrets, one in each line", secrets: 10, shown: true },
];

export const masking: Bench = async (signal, progress, size) => {
  const { pieces, rounds, warmUp } = SIZES[size];
  const kinds = KINDS.map((kind) => {
    const secrets = Array.from({ length: kind.secrets }, () => randomBytes(24).toString("base64"));
    const matcher = createMatcher(secrets.map((secret) => Buffer.from(secret)));
    return { ...kind, matcher, piece: logOf(kind.shown ? secrets : ["src/build/step.ts"]), rates: [] as number[] };
  });
  const floors: number[] = [];
  for (let round = 1 - warmUp; round <= rounds; round += 1) {
    signal.throwIfAborted();
    if (round > 0) progress(`round ${round} of ${rounds}`);
    const bare = rate(pieces, (piece) => Buffer.from(piece), logOf(["src/build/step.ts"]));
    if (round > 0) floors.push(bare);
    for (const { matcher, piece, rates } of kinds) {
      const masker = createMasker(matcher);
      const measured = rate(pieces, masker.push, piece);
      if (round > 0) rates.push(measured);
    }
  }
  return {
    definition: "Megabytes per second through the masker, in pieces of 64 KiB; floor: the pieces copied.",
    parameters: { pieceBytes: PIECE, pieces, rounds },
    figures: kinds.map(({ name, rates }) =>
      withRatio({ name, value: median(rates), unit: "MB/s", floor: median(floors) }),
    ),
  };
};

function rate(pieces: number, process: (piece: Buffer) => Buffer, piece: Buffer): number {
  const from = performance.now();
  for (let nth = 0; nth < pieces; nth += 1) process(piece);
  return (PIECE * pieces) / 1_000 / (performance.now() - from);
}

/** Lines of a build log; each contains the next of these names. */
function logOf(names: readonly string[]): Buffer {
  let text = "";
  for (let nth = 0; text.length < PIECE; nth += 1)
    text += `2026-11-21T15:59:47.${nth % 1000}Z INFO  module ${nth}: ${names[nth % names.length]} done in ${nth * 7} ms\n`;
  return Buffer.from(text).subarray(0, PIECE);
}
