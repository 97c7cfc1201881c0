/**
 * Which methods a path has, for the 405 to one that it has not (RFC 9110 section 15.5.6). It is decided by the path alone,
 * before any credential: whoever asks learns no more than api/openapi.json tells everybody, and nothing of what there is.
 */
import type { FastifyInstance } from "fastify";
import type { ErrorFamily } from "./envelope.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** How errors of this address look; as REST's unless told otherwise. */
    errors?: ErrorFamily;
  }
}

export type KnownPath = { readonly methods: readonly string[]; readonly errors: ErrorFamily };

type Pattern = KnownPath & { readonly segments: readonly string[] };

/** As `maxParamLength` of the router has it: longer ones lead nowhere. */
export const MAX_PARAMETER = 256;

/** Sees every route of the server that is made from now on; answers what there is at an address, by any method. */
export function knowPaths(app: FastifyInstance): (url: string) => KnownPath | undefined {
  const patterns = new Map<number, Pattern[]>();
  app.addHook("onRoute", ({ method, url, config }) => {
    // The one of preflights, which is there for every address.
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

/** Undefined for an address that is none. */
function decoded(path: string): readonly string[] | undefined {
  try {
    return path.split("/").map((segment) => decodeURIComponent(segment));
  } catch {
    return undefined;
  }
}
