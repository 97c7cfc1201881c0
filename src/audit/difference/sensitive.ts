/**
 * The second line of defence of the trail. Views of operations contain no secret. If one does, values of sensitive
 * names, and values that look like a credential, are masked here.
 */

export const MASK = "***";

const TELLING =
  /password|passphrase|passwd|secret|token|credential|privatekey|apikey|rootkey|accesskey|cookie|authorization/;
/** Names of references, such as `passwordRef` and `secretId`. */
const REFERENCE_NAMES = /(?:refs?|ids?|identifiers?|names?|type|manager|scope)$/;
/** A value that such a name may have: a reference, a name, an id; nothing that looks like a chosen password. */
const NAME_LIKE = /^[\w.$ -]{0,128}$/;
/** An expression, not its value. */
const EXPRESSION = /^<\+[\w.]+(?:\("[\w.]+"\))?>$/;

/** Whether the value of this name is masked. */
export function isSensitive(name: string, value?: unknown): boolean {
  const recordedValue = name.toLowerCase().replaceAll(/[^a-z]/g, "");
  if (typeof value === "string" && (value === "" || EXPRESSION.test(value.trim()))) return false;
  if (recordedValue === "value" || recordedValue === "values") return true;
  if (!TELLING.test(recordedValue)) return false;
  return !(REFERENCE_NAMES.test(recordedValue) && (typeof value !== "string" || NAME_LIKE.test(value)));
}

const OWN_TOKEN = /\b(pat|sat|dlg)\.[\w-]{1,64}\.[\w-]{1,64}\.[\w-]+/g;
const JWT = /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g;
const USER_INFO = /:\/\/[^\s/@]{1,1024}@/g;
const PRIVATE_KEY = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[^-]*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?/g;

/** The text with recognized credentials masked; the number of lines does not change. */
export const withoutCredentials = (text: string): string =>
  text
    .replaceAll(PRIVATE_KEY, (key) => MASK + "\n".repeat(key.split("\n").length - 1))
    .replaceAll(OWN_TOKEN, `$1.${MASK}`)
    .replaceAll(JWT, MASK)
    .replaceAll(USER_INFO, `://${MASK}@`);

const KEY = /(?:^|[\s{,["'-])([\w.-]{1,128})["']?\s*:(?=\s|$|["'])/g;

/**
 * The lines of a YAML or JSON document with values of sensitive keys masked: to the end of the line, and in following
 * lines with deeper indentation. Masks too much rather than too little.
 */
export function withoutValues(text: string): string[] {
  let hidden: number | undefined;
  return withoutCredentials(text)
    .split("\n")
    .map((line) => {
      const indent = line.search(/[^\s-]/);
      if (hidden !== undefined && (indent < 0 || indent > hidden)) return indent < 0 ? line : MASK;
      hidden = undefined;
      const cut = maskStart(line);
      if (cut === undefined) return line;
      hidden = indent;
      return `${line.slice(0, cut)} ${MASK}`;
    });
}

/** The index of the first masked value in the line. */
function maskStart(line: string): number | undefined {
  for (const match of line.matchAll(KEY)) {
    const end = match.index + match[0].length;
    const value = /^\s*["']?(.*?)["']?\s*(?:[,}\]].*)?$/.exec(line.slice(end))?.[1] ?? "";
    if (!isSensitive(match[1] ?? "", value.trim() === "" ? undefined : value)) continue;
    return end;
  }
  return undefined;
}
