/**
 * Loaded into a server before its own code (`--import`): the modules that say who it is and what they may do are
 * replaced by two of this folder, which ask nothing. Only a benchmark has such a server; the product has no switch for it.
 */
import { registerHooks } from "node:module";

const REPLACED = new Map([
  ["/src/identity/authentication/credentials.ts", new URL("credentials.ts", import.meta.url).href],
  ["/src/access/grants/permits.ts", new URL("permits.ts", import.meta.url).href],
]);

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const other = [...REPLACED].find(([path]) => found.url.endsWith(path))?.[1];
    // What replaces a module may import it.
    return other === undefined || other === context.parentURL ? found : { ...found, url: other };
  },
});
