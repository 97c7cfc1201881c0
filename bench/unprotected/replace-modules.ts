/**
 * Loaded into a server before its code (`--import`). It replaces the modules for authentication and authorization by
 * modules of this folder that check nothing. Only benchmarks do so; the product has no option for it.
 */
import { registerHooks } from "node:module";

const REPLACED = new Map([
  ["/src/identity/authentication/credentials.ts", new URL("credentials.ts", import.meta.url).href],
  ["/src/access/grants/permits.ts", new URL("permits.ts", import.meta.url).href],
]);

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    const replacement = [...REPLACED].find(([path]) => resolved.url.endsWith(path))?.[1];
    // A replacement may import the original module.
    return replacement === undefined || replacement === context.parentURL
      ? resolved
      : { ...resolved, url: replacement };
  },
});
