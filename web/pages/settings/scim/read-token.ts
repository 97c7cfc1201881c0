/**
 * Header and claims of a signed token as indented JSON, to compare them with the settings. Undefined if the text is not
 * a signed token.
 */
export function readToken(token: string): string | undefined {
  const [header, claims, signature] = token.split(".");
  if (header === undefined || claims === undefined || signature === undefined) return undefined;
  try {
    return [header, claims].map((part) => JSON.stringify(JSON.parse(decode(part)), undefined, 2)).join("\n");
  } catch {
    return undefined;
  }
}

const decode = (part: string): string =>
  new TextDecoder().decode(Uint8Array.fromBase64(part, { alphabet: "base64url" }));
