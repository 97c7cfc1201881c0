/**
 * Security headers of the pages that the server serves, and of their scripts and styles: the sign-in page
 * (src/login/pages.ts), the GraphQL explorer (src/platform/graphql/explorer.ts) and the description of the API
 * (api-docs.ts). Each page adds its own headers. Answers of routes do not have them (send.ts).
 */

/**
 * Only files of this server are loaded. The scripts send the forms: without them, a form must not put a password into
 * an address.
 */
const POLICY: Readonly<Record<string, string>> = {
  "default-src": "'none'",
  "connect-src": "'self'",
  "img-src": "data:",
  "script-src": "'self'",
  "style-src": "'self'",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
};

/** The headers of a page. `directives` replace those of the same name in the policy, or are added. */
export const pageHeaders = (directives: Readonly<Record<string, string>> = {}) => ({
  "content-security-policy": Object.entries({ ...POLICY, ...directives })
    .map(([name, value]) => `${name} ${value}`)
    .join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
});
