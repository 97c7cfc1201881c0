import path from "node:path";
import type { Files } from "../../../scripts/lib/files.ts";
import type { Violation } from "./violations.ts";

/** A word that begins with a folder of the repository or names a file of its root. */
const PATH =
  /(?<![\w/.@:$~-])((?:src|protocol|delegate|cli|web|api|migrations|bench|test|docs|examples|scripts|\.ci)\/[\w./*{},@<>…-]*|[\w-]+\.(?:md|json|jsonc)|LICENSE)(?![\w/])/g;

type Mention = { readonly path: string; readonly line: number };

/** Reports paths in code spans, code blocks and links of the documentation that do not exist. */
export function docPathViolations(docs: Files, tree: readonly string[]): readonly Violation[] {
  return [...docs].flatMap(([doc, text]) =>
    mentions(doc, text)
      .filter((mention) => !exists(mention.path, tree))
      .map((mention) => ({
        key: `${doc}: ${mention.path}`,
        message: `${doc}:${mention.line} names ${mention.path}, which does not exist`,
      })),
  );
}

function mentions(doc: string, text: string): readonly Mention[] {
  let inBlock = false;
  return text.split("\n").flatMap((content, i) => {
    const fence = content.trimStart().startsWith("```");
    if (fence) inBlock = !inBlock;
    if (fence) return [];
    const code = inBlock ? [content] : [...content.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
    const named = code.flatMap((span) => [...span.matchAll(PATH)].map(([, found = ""]) => found.replace(/[.,]+$/, "")));
    return [...named, ...(inBlock ? [] : links(doc, content))].map((found) => ({ path: found, line: i + 1 }));
  });
}

/** Returns targets of Markdown links inside the tree, relative to the page. */
function links(doc: string, content: string): readonly string[] {
  return [...content.matchAll(/\]\(([^)#\s]+)(#[^)]*)?\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => path.posix.join(path.posix.dirname(doc), target));
}

function exists(named: string, tree: readonly string[]): boolean {
  // Placeholders (`src/<slice>/`, `NNNN`) and an ellipsis name no particular path.
  if (/[<>…]|NNNN/.test(named)) return true;
  const wanted = named.replace(/\/$/, "");
  return tree.some((file) => file === wanted || file.startsWith(`${wanted}/`) || path.matchesGlob(file, wanted));
}
