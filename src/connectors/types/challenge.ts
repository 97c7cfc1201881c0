/** A `WWW-Authenticate` challenge (RFC 9110 section 11.6.1) of a registry: the scheme, and where to get a token. */
export type Challenge =
  | { readonly scheme: "basic" }
  | { readonly scheme: "bearer"; readonly realm: string; readonly params: readonly (readonly [string, string])[] };

const PARAM = /([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi;

/** Returns the first supported challenge of the header; undefined without one. */
export function challengeIn(header: string | undefined): Challenge | undefined {
  const text = (header ?? "").slice(0, 4_096);
  const bearer = /(?:^|,)\s*bearer\s+(.*)$/is.exec(text)?.[1];
  if (bearer !== undefined) {
    const given = new Map(
      [...bearer.matchAll(PARAM)].map(([, name = "", quoted, word]) => [
        name.toLowerCase(),
        quoted?.replace(/\\(.)/g, "$1") ?? word ?? "",
      ]),
    );
    const params = ["service", "scope"].flatMap((name) => {
      const value = given.get(name);
      return value === undefined ? [] : [[name, value] as const];
    });
    return { scheme: "bearer", realm: given.get("realm") ?? "", params };
  }
  return /(?:^|,)\s*basic\b/i.test(text) ? { scheme: "basic" } : undefined;
}
