/**
 * The methods of a path, for the answer 405 (RFC 9110 section 15.5.6). Only the path decides, before authentication:
 * the answer reveals nothing that api/openapi.json does not publish.
 */
import type { FastifyInstance } from "fastify";
import type { ErrorFamily } from "./envelope.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Shape of errors at this address; that of REST by default. */
    errors?: ErrorFamily;
  }
}

export type KnownPath = { readonly methods: readonly string[]; readonly errors: ErrorFamily };

type Pattern = KnownPath & { readonly segments: readonly string[] };

/** Equals `maxParamLength` of the router; longer parameters match no route. */
export const MAX_PARAMETER = 256;

/** Observes every route that is added from now on; returns a function that lists the methods of an address. */
export function knowPaths(app: FastifyInstance): (url: string) => KnownPath | undefined {
  const patterns = new Map<number, Pattern[]>();
  app.addHook("onRoute", ({ method, url, config }) => {
    // Every address has the route for preflight requests.
    if (url === "*" || url === "/*") return;
    const segments = url.split("/");
    const pattern = { segments, methods: [method].flat(), errors: config?.errors ?? "rest" };
    patterns.set(segments.length, [...(patterns.get(segments.length) ?? []), pattern]);
  });
  return (url) => {
    const segments = decoded(url.split("?")[0] ?? "");
    const found = (segments && patterns.get(segments.length)?.filter((one) => fits(one.segments, segments))) ?? [];
    const [first] = found;
    return first && { methods: [...new Set(found.flatMap(({ methods }) => methods))], errors: first.errors };
  };
}

const fits = (pattern: readonly string[], segments: readonly string[]): boolean =>
  pattern.every((part, at) => {
    const segment = segments[at] ?? "";
    return part.startsWith(":") ? segment.length <= MAX_PARAMETER : part === segment;
  });

/** Returns undefined if the URL does not parse. */
function decoded(path: string): readonly string[] | undefined {
  try {
    return path.split("/").map((segment) => decodeURIComponent(segment));
  } catch {
    return undefined;
  }
}
