/** GraphQL, or a document with a file, as a form with valid and invalid parts. */
import type { Body } from "./bodies.ts";
import { rubbishText, type Chance } from "./chance.ts";

const BOUNDARY = "----fuzz7f";

export function formOf(c: Chance, document: unknown, name: "query" | "spec" = "query"): Body {
  const text = typeof document === "string" ? document : JSON.stringify(document);
  const parts = name === "spec" && c.often(20) ? [] : [part(`name="${name}"`, text)];
  if (c.often(name === "spec" ? 80 : 50))
    parts.push(part('name="file"; filename="a.txt"', c.often(20) ? rubbishText(c) : "content", FILE));
  if (c.often(15)) parts.push(part('name="x-api-key"', rubbishText(c)));
  if (c.often(20)) parts.push(c.pick(ODD_PARTS));
  if (c.often(10)) parts.reverse();
  if (c.often(5)) parts.push(...parts);
  const whole = `${parts.join("")}--${BOUNDARY}--\r\n`;
  const sent = c.often(10) ? whole.slice(0, c.upTo(whole.length)) : whole;
  const boundary = c.often(3) ? c.pick(["", "other", "x".repeat(300), '"'] as const) : BOUNDARY;
  return { bytes: Buffer.from(sent), contentType: `multipart/form-data; boundary=${boundary}` };
}

const FILE = "content-type: application/octet-stream\r\n";

const part = (disposition: string, content: string, more = ""): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; ${disposition}\r\n${more}\r\n${content}\r\n`;

const ODD_PARTS: readonly string[] = [
  part('name="__proto__"', "x"),
  part("name=", "x"),
  part("", "x"),
  part('name="file"', "not a file"),
  part('name="query"; filename="q.json"', "{}"),
  part('name="file"; filename="../../a\\0"', "x"),
  part("name=\"file\"; filename*=utf-8''%ff", "x"),
  part('name="file"; filename="big"', "z".repeat(1_100_000)),
  part('name="other"', "x".repeat(100_000)),
  part('name="map"', '{"0":["variables.file"]}'),
  `--${BOUNDARY}\r\ncontent-disposition: attachment\r\n\r\nx\r\n`,
  `--${BOUNDARY}\r\n${"x-a: b\r\n".repeat(3_000)}\r\nx\r\n`,
  part('name="a"', "x", "content-transfer-encoding: base64\r\n"),
  part('name="a"', "x", "content-type: text/plain; charset=utf-99\r\n"),
  part('name="a"', "x").repeat(200),
];
