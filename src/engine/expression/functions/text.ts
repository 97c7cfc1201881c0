/** Methods of texts. Each takes its arguments literally; patterns.ts has the methods that take a pattern. */
import { ExpressionError } from "../error.ts";
import { MAX_RESULT_BYTES } from "../limits.ts";
import { textOf } from "../value.ts";
import { type Call, filledArgument, type FunctionRow, row, subject, textArgument, wholeArgument } from "./row.ts";
import { lastOffset, occurrences } from "./search.ts";

export const TEXT_METHODS: readonly FunctionRow[] = [
  row("toLowerCase()", "The text in lower case.", {
    example: '<+"Main".toLowerCase()>',
    result: "main",
    run: (call) => subject(call).toLowerCase(),
  }),
  row("toUpperCase()", "The text in upper case.", {
    example: '<+"prod".toUpperCase()>',
    result: "PROD",
    run: (call) => subject(call).toUpperCase(),
  }),
  row("trim()", "The text without blanks at both ends.", {
    example: '<+" a b ".trim()>',
    result: "a b",
    run: (call) => subject(call).trim(),
  }),
  row("startsWith(text)", "Whether the text begins with another.", {
    example: '<+"refs/tags/v1".startsWith("refs/tags/")>',
    result: true,
    run: (call) => subject(call).startsWith(textArgument(call, 0)),
  }),
  row("endsWith(text)", "Whether the text ends with another.", {
    example: '<+"app.jar".endsWith(".jar")>',
    result: true,
    run: (call) => subject(call).endsWith(textArgument(call, 0)),
  }),
  row("equalsIgnoreCase(text)", "Whether both texts are equal apart from case.", {
    example: '<+"Prod".equalsIgnoreCase("PROD")>',
    result: true,
    run: (call) => subject(call).toLowerCase() === textArgument(call, 0).toLowerCase(),
  }),
  row("replace(old, new)", "The text with each `old` replaced, literally.", {
    example: '<+"a.b.c".replace(".", "-")>',
    result: "a-b-c",
    run: replace,
  }),
  row("substring(from, to?)", "The characters from `from` to before `to`.", {
    example: '<+"abcdef".substring(1, 3)>',
    result: "bc",
    run: substring,
  }),
  row("charAt(position)", "The character at a position, from 0.", {
    example: '<+"abc".charAt(1)>',
    result: "b",
    run: charAt,
  }),
  row("lastIndexOf(text)", "The last position of a text; -1 if there is none.", {
    example: '<+"a/b/c".lastIndexOf("/")>',
    result: 3,
    run: (call) => lastOffset(subject(call), textArgument(call, 0)),
  }),
  row("concat(text)", "Both texts together, as with `+`.", {
    example: '<+"v".concat("1.2")>',
    result: "v1.2",
    run: (call) => subject(call) + textArgument(call, 0),
  }),
  row("repeat(count)", "The text several times.", { example: '<+"ab".repeat(3)>', result: "ababab", run: repeat }),
  row("isBlank()", "Whether the text has nothing but blanks.", {
    example: '<+"  ".isBlank()>',
    result: true,
    run: (call) => subject(call).trim() === "",
  }),
  row("toString()", "The value as text; lists and objects as JSON.", {
    example: "<+(1 + 2).toString()>",
    result: "3",
    run: ({ value, at }) => textOf(value, at),
  }),
];

/** Collects pieces of a text up to the size that a value may have. */
const PIECES_PER_UNIT = 4;

export function boundedPieces(call: Call): { readonly add: (piece: string) => void; readonly join: () => string } {
  const pieces: string[] = [];
  let length = 0;
  return {
    add(piece) {
      length += piece.length;
      // Decided before the text is built: it can be far longer than all texts that it is made from.
      if (length > MAX_RESULT_BYTES) {
        throw new ExpressionError("limit", `the text of ${call.name}() is too long`, call.at);
      }
      pieces.push(piece);
      if (pieces.length % PIECES_PER_UNIT === 0) call.spend(1);
    },
    join: () => pieces.join(""),
  };
}

function replace(call: Call): string {
  const text = subject(call);
  const old = filledArgument(call, 0);
  const by = textArgument(call, 1);
  const pieces = boundedPieces(call);
  let done = 0;
  for (const at of occurrences(text, old)) {
    pieces.add(text.slice(done, at));
    pieces.add(by);
    done = at + old.length;
  }
  pieces.add(text.slice(done));
  return pieces.join();
}

function substring(call: Call): string {
  const text = subject(call);
  const from = wholeArgument(call, 0, { least: 0, most: text.length });
  const to = wholeArgument(call, 1, { least: 0, most: text.length, usual: text.length });
  if (to < from) throw new ExpressionError("type", "substring() ends before it begins", call.at);
  return text.slice(from, to);
}

function charAt(call: Call): string {
  const text = subject(call);
  if (text === "") throw new ExpressionError("type", "charAt() needs a text that is not empty", call.at);
  return text.charAt(wholeArgument(call, 0, { least: 0, most: text.length - 1 }));
}

function repeat(call: Call): string {
  const text = subject(call);
  const count = wholeArgument(call, 0, { least: 0, most: MAX_RESULT_BYTES });
  if (text.length * count > MAX_RESULT_BYTES) {
    throw new ExpressionError("limit", "the text of repeat() is too long", call.at);
  }
  return text.repeat(count);
}
