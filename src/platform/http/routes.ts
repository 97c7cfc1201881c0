/**
 * A route is data: its operation, its permission, the schemas of its query and body, its answer. A slice lists its
 * routes; `server.ts` serves each with and without the prefix `/gateway`. The operation enforces the permission. The
 * server does not start with a route that names neither a permission nor a reason to be public (invariant 8).
 */
import type { z } from "zod";
import type { Actor, RequestFacts } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import type { IgnoredField } from "../document/json/lenient.ts";
import type { ErrorFamily } from "./response/envelope.ts";
import type { EventSink } from "./response/events.ts";
import type { Form, FormTexts } from "./request/form.ts";

/** The whole body of a request, within the limit of the route and not parsed. */
export type Body = {
  /** The media type without parameters, in lower case; "" if the request has none. */
  readonly contentType: string;
  /** The charset of the content type, in lower case; "" if it has none. */
  readonly charset: string;
  readonly bytes: Buffer;
};

/** One request as a handler sees it. `params` are the decoded path parameters. */
export type Call<Q = unknown> = {
  readonly actor: Actor;
  readonly accountId: Uuid;
  readonly query: Q;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Body;
  /** Called by `envelopeOf` with the unknown fields of the body. Throws `http.other_scope`. */
  readonly onIgnored: (fields: readonly IgnoredField[]) => void;
  /**
   * Reads the form of a route that takes one, when called, so after the permission check. The form is released with
   * the answer.
   */
  readonly form: () => Promise<Form>;
  /** The actor, checked again after a form was read: credential and permissions may have ended meanwhile. */
  readonly still: () => Actor | Promise<Actor>;
  readonly correlationId: string;
  /** What the audit trail records of the request. */
  readonly facts: RequestFacts;
};

/** A public route has no actor: the address or the body contains everything it needs. */
export type PublicCall<Q = unknown> = Omit<Call<Q>, "actor" | "still" | "accountId">;

/** What a handler returns. Failures are thrown instead. */
export type Answer =
  | {
      readonly kind: "json";
      readonly status: number;
      readonly body: unknown;
      /** Version of the resource in the body; sent as `ETag`, for a later `If-Match`. */
      readonly version?: number;
      /**
       * Cookies and other headers of this answer. They replace the headers of the same name that `response/send.ts`
       * sets: `content-type`, which is `application/json; charset=utf-8`, and `etag`.
       */
      readonly headers?: Readonly<Record<string, string | readonly string[]>>;
    }
  | {
      readonly kind: "empty";
      readonly status: 204 | 302 | 304;
      readonly headers?: Readonly<Record<string, string | readonly string[]>>;
    }
  | TextAnswer
  | { readonly kind: "events"; readonly run: (sink: EventSink) => Promise<void> };

export type TextAnswer = {
  readonly kind: "text";
  readonly status: number;
  readonly body: string | Buffer | AsyncIterable<Buffer>;
  /** Plain text by default. */
  readonly type?: TextType;
  /** Sends it as an attachment, which browsers save and never show. Letters, digits, `.`, `-`, `_` and `$`. */
  readonly fileName?: string;
};

export type TextType = "text/plain" | "application/x-ndjson";

/** The request body of a route: its schema, and a valid example, which a test sends. */
export type BodyDoc = {
  readonly schema: z.ZodType;
  /** The top-level key of the document, such as `project`. */
  readonly root?: string;
  /** Accepted media types; JSON and YAML by default. */
  readonly types?: readonly string[];
  /** For a form: schema and example describe its text `spec`; the part `file` comes beside it. */
  readonly form?: { readonly file: "required" | "optional"; readonly spec: "required" | "optional" };
  /** False if the body is optional. */
  readonly required?: boolean;
  /** True for a document that defines what is executed: unknown fields are rejected. Other bodies ignore them. */
  readonly strict?: true;
  readonly example: unknown;
};

/**
 * Documentation of a route in api/openapi.json. A test calls every operation with its example and checks the answer.
 */
export type RouteDoc = {
  readonly summary: string;
  readonly description?: string;
  /** Valid values of path and query parameters. Ids that the server generates may have any value. */
  readonly params?: Readonly<Record<string, string>>;
  readonly queryExample?: Readonly<Record<string, string>>;
  /** Path parameters that may name a missing resource: the answer is not 404. */
  readonly mayBeAbsent?: readonly string[];
  readonly body?: BodyDoc;
  /** Status of success; 200 by default. */
  readonly status?: 201 | 204 | 302;
  /** Schema of the whole successful body (`shapes.ts`), the media types of another body, or nothing. */
  readonly answer: z.ZodType | TextType | readonly TextType[] | "text/event-stream" | "text/html" | "nothing";
  /** Further error statuses of a public route. */
  readonly refuses?: readonly ("401" | "403")[];
  /** True if the answer sends the version of the resource as `ETag`. */
  readonly etag?: boolean;
  /** True if the route reads the expected version from `If-Match`. */
  readonly ifMatch?: boolean;
  /** True if the route reads the known version from `If-None-Match` and answers 304. */
  readonly ifNoneMatch?: boolean;
  /** True if `Idempotency-Key` identifies a repeated request, which starts nothing again. */
  readonly idempotencyKey?: boolean;
  /** Bodies of other statuses that are not the family's error. */
  readonly otherAnswers?: Readonly<Record<number, z.ZodType>>;
};

type Shared = {
  /** `refused`: a request that is recognized only to be rejected by name; api/openapi.json lists what is supported. */
  readonly doc: RouteDoc | "refused";
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path without `/gateway`, with parameters as `:name`. */
  readonly path: string;
  /** `noun.verb`, unique; the name in the audit trail and the documentation. */
  readonly operation: string;
  readonly errors: ErrorFamily;
  readonly maxBody: number;
  /** True if the path with a trailing slash is served as well; some identity providers send one. */
  readonly trailingSlash?: true;
  /** The text fields of a form that replaces the body; a file may come beside them. */
  readonly form?: FormTexts;
};

/** A route for callers with a credential, created by `route`. The operation checks the permission in `access`. */
export type PrivateRoute = Shared & {
  readonly access: { readonly permission: string };
  /**
   * The query parameter that names the account, or `:accountId` for the path, or `header` for `X-Platform-Account` or
   * the query parameter `accountIdentifier`. The account must be the credential's.
   */
  readonly account: "accountIdentifier" | "accountId" | "accountID" | "path" | "header";
  /**
   * Replaces the default authentication, for routes that accept further credentials. `account` is the one in the
   * path.
   */
  readonly authenticate?: (token: string, account: string) => Promise<Actor | undefined>;
  /**
   * True for a GET that changes nothing and always answers an attachment: a session may use it without the anti-forgery
   * token, if a person follows a link on a page of this server (docs/security.md#downloads-by-link).
   */
  readonly isLink?: true;
  readonly query: z.ZodType;
  readonly handle: (call: Call) => Promise<Answer>;
};

export type PublicRoute = Shared & {
  readonly access: { readonly public: string };
  readonly query: z.ZodType;
  readonly handle: (call: PublicCall) => Promise<Answer>;
};

/**
 * For signed-in users and their own account: no permission is needed, and the handler passes the headers to the slice
 * that stores sessions. `session` states the purpose.
 */
export type SessionRoute = Shared & {
  readonly access: { readonly session: string };
  readonly query: z.ZodType;
  readonly handle: (call: PublicCall) => Promise<Answer>;
};

/** Created by `route`, `publicRoute` and `sessionRoute`; `Http.add` serves it. */
export type Route = PrivateRoute | PublicRoute | SessionRoute;

/** Default limit of a body in bytes: ten times an ordinary organization or connector. */
const SMALL_BODY = 64 * 1024;
/** Limit for documents with scripts: pipelines, input sets, triggers. */
export const LARGE_BODY = 256 * 1024;

type Optional<T, K extends keyof T> = Omit<T, K> & Partial<Pick<T, K>>;

/** Declares a route for callers with a credential. The handler gets the query as its schema decodes it. */
export function route<Q extends z.ZodType>(
  spec: Optional<Omit<PrivateRoute, "query" | "handle">, "errors" | "maxBody" | "account"> & {
    readonly query: Q;
    readonly handle: (call: Call<z.output<Q>>) => Promise<Answer>;
  },
): PrivateRoute {
  return {
    errors: "rest",
    maxBody: SMALL_BODY,
    account: "accountIdentifier",
    ...spec,
    handle: (call) => spec.handle(call as Call<z.output<Q>>),
  };
}

/** Declares a route without authentication; `access.public` states the reason. */
export function publicRoute<Q extends z.ZodType>(
  spec: Optional<Omit<PublicRoute, "query" | "handle">, "errors" | "maxBody"> & {
    readonly query: Q;
    readonly handle: (call: PublicCall<z.output<Q>>) => Promise<Answer>;
  },
): PublicRoute {
  return {
    errors: "rest",
    maxBody: SMALL_BODY,
    ...spec,
    handle: (call) => spec.handle(call as PublicCall<z.output<Q>>),
  };
}

/** Declares a route for signed-in users. */
export function sessionRoute<Q extends z.ZodType>(
  spec: Optional<Omit<SessionRoute, "query" | "handle">, "errors" | "maxBody"> & {
    readonly query: Q;
    readonly handle: (call: PublicCall<z.output<Q>>) => Promise<Answer>;
  },
): SessionRoute {
  return {
    errors: "rest",
    maxBody: SMALL_BODY,
    ...spec,
    handle: (call) => spec.handle(call as PublicCall<z.output<Q>>),
  };
}

/**
 * Whether HEAD is served as GET without the body. It is not for streams, which have no length, and for pages that a
 * browser is redirected to, because their GET has an effect.
 */
export function methodsOf({ method, doc }: Route): string[] {
  const hasHead = doc === "refused" || (doc.answer !== "text/event-stream" && doc.status !== 302);
  return method === "GET" && hasHead ? ["GET", "HEAD"] : [method];
}
