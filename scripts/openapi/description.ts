/** Descriptions of operations, generated from the declarations of their routes. */
import type { Route, RouteDoc } from "../../src/platform/http/routes.ts";

/** The description: the route's own text and one sentence for each declared property. */
export function descriptionOf(route: Route, doc: RouteDoc): string {
  const own = doc.description === undefined ? [] : [doc.description];
  const sentences = [
    accessOf(route),
    ...namesOf(route, doc),
    ...bodyOf(doc),
    ...versionOf(route, doc),
    ...shapeOf(route, doc),
  ];
  return [...own, sentences.join(" ")].join("\n\n");
}

function accessOf({ access }: Route): string {
  if ("permission" in access)
    return `Needs the permission \`${access.permission}\` in the scope; without it the answer is 403.`;
  if ("session" in access) return `Needs a session of a browser and its anti-forgery token: ${access.session}.`;
  return `Needs no credential: ${access.public}.`;
}

function namesOf({ path }: Route, { mayBeAbsent = [] }: RouteDoc): string[] {
  const others = new Set(["accountId", ...mayBeAbsent]);
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name).filter((name) => !others.has(name));
  if (names.length === 0) return [];
  const shown = names.map((name) => `\`${name}\``).join(" or ");
  return [`The answer is 404 if ${shown} names nothing that the caller may see.`];
}

function bodyOf({ body }: RouteDoc): string[] {
  if (!body) return [];
  const left = body.required === false ? ["The body may be left out."] : [];
  if (body.form) return [...left, "The body is a form; unknown parts are refused by name."];
  return [
    ...left,
    body.strict
      ? "The body is checked as a whole: faults are 400 and name the field."
      : "Unknown fields of the body are ignored and named in `Railhead-Ignored-Fields`; other faults are 400 and name the field.",
  ];
}

function versionOf({ errors }: Route, { etag, ifMatch, ifNoneMatch }: RouteDoc): string[] {
  return [
    ...(etag ? ["`ETag` is the version."] : []),
    ...(ifMatch ? [`A stale version in \`If-Match\` is ${errors === "scim" ? 412 : 402}.`] : []),
    ...(ifNoneMatch ? ["A current version in `If-None-Match` is 304."] : []),
  ];
}

const SHAPES = { rest: "Error", resource: "ResourceError", graphql: "GraphqlError", scim: "ScimError" } as const;

function shapeOf({ errors }: Route, { answer }: RouteDoc): string[] {
  const stream = answer === "text/event-stream" ? ["The answer is a stream of server-sent events."] : [];
  return [...stream, `Errors have the shape \`${SHAPES[errors]}\`.`];
}
