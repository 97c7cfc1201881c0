import { type Files } from "../../../scripts/lib/files.ts";
import type { Violation } from "./violations.ts";

/** Slices that do not follow the patterns yet. Their code is rewritten with the next engine model. */
const LATER = /^src\/(engine|executions|pipelines)\//;
/** Folders whose comments are older than the rule about pronouns. Remove a folder when its comments are rewritten. */
const OLD_COMMENTS = /^src\/(platform\/(db|graphql|http|outgoing)|delegates|core)\//;
const OF_SLICES = /^(src|delegate|protocol|cli)\//;
const COMMENT = /^\s*(\/\/|\/?\*)|\s\/\/ /;
const PRONOUN = /\b(whoever|whomever|nobody|somebody|whatever|wherever)\b/i;

/** Reports code that departs from the patterns of docs/architecture.md. */
export function patternViolations(files: Files): readonly Violation[] {
  return [...files]
    .filter(([file]) => !LATER.test(file))
    .flatMap(([file, text]) => [
      ...layoutOf(file),
      ...factoriesOf(file, text),
      ...pronounsOf(file, text),
      ...openedByDelegate(file, text),
    ]);
}

function layoutOf(file: string): readonly Violation[] {
  const resource = /\/(rest|graphql)-([a-z-]+?)(\.test)?\.ts$/.exec(file);
  if (!resource || !OF_SLICES.test(file)) return [];
  return [{ key: file, message: `${file}: a slice with several resources has ${resource[1]}/${resource[2]}.ts` }];
}

function factoriesOf(file: string, text: string): readonly Violation[] {
  return [...text.matchAll(/^export (?:const|function|async function) (make[A-Z]\w*)/gm)].map(([, name]) => ({
    key: `${file}: ${name}`,
    message: `${file}: name '${name}' by its operation (createConnector) or createX`,
  }));
}

/** A step can have put a pipe or a link in place of a file of the delegate. */
function openedByDelegate(file: string, text: string): readonly Violation[] {
  if (!file.startsWith("delegate/") || /^delegate\/testing\/|\.test\.ts$/.test(file)) return [];
  return [...text.matchAll(/\b(appendFileSync|truncateSync)\(/g)].map(([, name]) => ({
    key: `${file}: ${name}`,
    message: `${file}: use delegate/regular-file.ts instead of ${name}, which waits for pipes and follows links`,
  }));
}

function pronounsOf(file: string, text: string): readonly Violation[] {
  if (OLD_COMMENTS.test(file)) return [];
  return text.split("\n").flatMap((line, at) => {
    const word = COMMENT.test(line) ? PRONOUN.exec(line)?.[0] : undefined;
    const message = `${file}:${at + 1}: write who or what is meant instead of '${word}'`;
    return word === undefined ? [] : [{ key: `${file}: ${word}`, message }];
  });
}
