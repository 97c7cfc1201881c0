/** The encodings in which programs print a value, besides the value itself. Texts are byte strings (latin1). */

/** Every form of `value`; `few`: the usual one of each encoding alone. */
export function formsOf(value: Buffer, few: boolean): readonly string[] {
  const text = value.toString("latin1");
  return [
    text,
    ...base64Forms(value),
    value.toString("hex"),
    value.toString("hex").toUpperCase(),
    ...(few ? [percent(text, COMPONENT, "%20")] : percentForms(text)),
    ...(few ? [json(text)] : jsonForms(value, text)),
    ...(few ? [text.replaceAll("'", "'\\''")] : shellForms(text)),
    ...xmlForms(text, few),
  ];
}

/**
 * Inside longer data a value may begin at any of three places of a group, and the characters at its ends also hold bits
 * of its neighbours: those that are the value's alone stay.
 */
function base64Forms(value: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), value]).toString("base64");
    const own = whole.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + value.length) * 8) / 6));
    return [own, own.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

/** Characters that each rule set encodes. */
const COMPONENT = /[^A-Za-z0-9\-_.!~*'()]/g;
const STRICT = /[^A-Za-z0-9\-_.~]/g;
const FORM = /[^A-Za-z0-9\-_.*]/g;
const PATH = /[^A-Za-z0-9\-_.~/]/g;
const WHOLE = /[^A-Za-z0-9\-_.!~*'();/?:@&=+$,#]/g;
const ALL = /[\s\S]/g;

function percentForms(text: string): readonly string[] {
  const rules = [COMPONENT, STRICT, PATH, WHOLE, ALL].map((coded) => percent(text, coded, "%20"));
  const forms = [...rules, percent(text, FORM, "+"), percent(text, STRICT, "+")];
  return [...forms, ...forms.map((form) => form.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))];
}

const CODES = Array.from({ length: 256 }, (_, code) => `%${code.toString(16).toUpperCase().padStart(2, "0")}`);

const percent = (text: string, coded: RegExp, blank: string): string =>
  text.replaceAll(coded, (character) => (character === " " ? blank : (CODES[character.charCodeAt(0)] ?? "")));

function jsonForms(value: Buffer, text: string): readonly string[] {
  const plain = json(text);
  const web = plain.replaceAll(/[<>&]/g, (character) => `\\u${hex(character.charCodeAt(0), 4)}`);
  const forms = [plain, plain.replaceAll("/", "\\/"), web, json(plain)];
  const decoded = value.toString("utf8");
  if (decoded.includes("\ufffd") || !/[^\0-\x7f]/.test(decoded)) return forms;
  return [...forms, json(decoded).replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${hex(unit.charCodeAt(0), 4)}`)];
}

/** Without the quotes around it. */
const json = (text: string): string => JSON.stringify(text).slice(1, -1);

/** As text of XML and HTML, and as the value of an attribute. */
function xmlForms(text: string, few: boolean): readonly string[] {
  if (!/[&<>"']/.test(text)) return [];
  const plain = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const quoted = plain.replaceAll('"', "&quot;");
  const numbered = plain.replaceAll('"', "&#34;").replaceAll("'", "&#39;");
  if (few) return [plain, quoted];
  return [plain, quoted, quoted.replaceAll("'", "&#39;"), quoted.replaceAll("'", "&apos;"), numbered];
}

const DOUBLE_QUOTED = /["$`\\]/g;
const BACKSLASHED = /[ \t!"$&'()*,;<>?[\\\]^`{|}]|^[#~]|(?<=[:=])~/g;
const ANSI: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\x1b": "\\E",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  "'": "\\'",
};

/** What `set -x`, `printf %q`, `${x@Q}`, `declare -p` and their like make of a value, without the quotes around it. */
function shellForms(text: string): readonly string[] {
  const ansi = each(
    text,
    (character, code) => ANSI[character] ?? (code < 32 || code === 127 ? octal(code) : character),
  );
  return [
    text.replaceAll("'", "'\\''"),
    text.replaceAll("'", `'"'"'`),
    text.replaceAll(DOUBLE_QUOTED, "\\$&"),
    text.replaceAll(BACKSLASHED, "\\$&"),
    ansi,
    each(ansi, (character, code) => (code > 127 ? octal(code) : character)),
  ];
}

const each = (text: string, form: (character: string, code: number) => string): string =>
  Array.from({ length: text.length }, (_, at) => form(text.charAt(at), text.charCodeAt(at))).join("");

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");
const octal = (code: number): string => `\\${code.toString(8).padStart(3, "0")}`;
