/** The media type of an answer (GraphQL over HTTP, "Media Types"; Accept as in RFC 9110 section 12.5.1). */
import { problem } from "../problems.ts";

const JSON_TYPE = "application/json";
const RESPONSE_TYPE = "application/graphql-response+json";

export type MediaType = typeof JSON_TYPE | typeof RESPONSE_TYPE;

type Range = { readonly type: string; readonly quality: number; readonly at: number };

/**
 * Chooses the type that `Accept` prefers; JSON without a preference, for clients that do not know the newer one.
 * Throws `graphql.not_acceptable` when it accepts neither.
 */
export function negotiate(accept: string | undefined): MediaType {
  if (accept === undefined || accept === "*/*" || accept === JSON_TYPE) return JSON_TYPE;
  const ranges = accept.split(",").flatMap((text, at) => readRange(text, at));
  if (ranges.length === 0) return JSON_TYPE;
  const [json, response] = [bestFor(JSON_TYPE, ranges), bestFor(RESPONSE_TYPE, ranges)];
  if (json.quality === 0 && response.quality === 0) throw problem("graphql.not_acceptable");
  return prefers(response, json) ? RESPONSE_TYPE : JSON_TYPE;
}

/** A range of `Accept`; undefined for a malformed one, and for one that requires another character set than UTF-8. */
function readRange(text: string, at: number): readonly Range[] {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  if (!/^[^\s/]+\/[^\s/]+$/.test(type)) return [];
  let quality = 1;
  for (const parameter of parameters) {
    const [name, value = ""] = parameter.split("=").map((part) => part.trim());
    if (name === "q") quality = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(value) ? Number(value) : 1;
    if (name === "charset" && !/^"?utf-?8"?$/.test(value)) quality = 0;
  }
  return [{ type, quality, at }];
}

type Liking = Range & { readonly exactness: number };

/** Finds the range that matches a type most exactly. */
function bestFor(type: string, ranges: readonly Range[]): Liking {
  for (const [exactness, name] of [type, "application/*", "*/*"].entries()) {
    const named = ranges.filter((range) => range.type === name);
    const best = named.toSorted((a, b) => b.quality - a.quality)[0];
    if (best) return { ...best, exactness: -exactness };
  }
  return { type, quality: 0, at: Number.POSITIVE_INFINITY, exactness: -3 };
}

/** Order: quality, then the more exact name, then the position. */
const prefers = (a: Liking, b: Liking): boolean =>
  a.quality !== b.quality
    ? a.quality > b.quality
    : a.exactness !== b.exactness
      ? a.exactness > b.exactness
      : a.at < b.at;

/**
 * With the newer type, a request that could not be executed gets 400; with plain JSON, it gets 200, as usual in this
 * API family.
 */
export const statusOf = (type: MediaType, executed: boolean): 200 | 400 => (executed || type === JSON_TYPE ? 200 : 400);

/** Bodies are UTF-8; another charset would be decoded wrongly. */
export function isUtf8Type(contentType: string): boolean {
  if (contentType === JSON_TYPE) return true;
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType)?.[1];
  return charset === undefined || /^(?:utf-?8|us-ascii)$/i.test(charset);
}
