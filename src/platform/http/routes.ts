/**
 * A route is data: what it answers, which permission it needs, how its query
 * looks. A slice lists its routes; `server.ts` serves each with and without the
 * prefix `/gateway`. The permission is enforced by the verb that the route
 * calls; a route that names neither a permission nor a reason to be public is
 * refused at start (invariant 8).
 */
import type { z } from "zod";
import type { Actor, RequestFacts } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import type { IgnoredField } from "../document/json/lenient.ts";
import type { ErrorFamily } from "./response/envelope.ts";
import type { EventSink } from "./response/events.ts";
import type { Form, FormTexts } from "./request/form.ts";

export type Body = {
  /** The media type without parameters, in lower case; "" when none was sent. */
  readonly contentType: string;
  /** What the content type says of the characters, in lower case; "" when it says nothing. */
  readonly charset: string;
  readonly bytes: Buffer;
};

/** One request, as a handler sees it. `params` are decoded path parameters. */
export type Call<Q = unknown> = {
  readonly actor: Actor;
  readonly accountId: Uuid;
  readonly query: Q;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Body;
  /** Told of the fields of the body that no schema knows; `envelopeOf` tells. Throws `http.other_scope`. */
  readonly onIgnored: (fields: readonly IgnoredField[]) => void;
  /** Of a route that takes one: read when it is asked for, so after the permission. It is released with the answer. */
  readonly form: () => Promise<Form>;
  /** The actor once a form has been read: whoever has lost something meanwhile does not act by it. */
  readonly still: () => Actor | Promise<Actor>;
  readonly correlationId: string;
  /** What the audit trail keeps of the request. */
  readonly facts: RequestFacts;
};

/** A public route has no actor: whatever it needs to know is in the address or the body. */
export type PublicCall<Q = unknown> = Omit<Call<Q>, "actor" | "still" | "accountId">;

export type Answer =
  | {
      readonly kind: "json";
      readonly status: number;
      readonly body: unknown;
      /** Of the thing that the body shows: sent as `ETag`, for a later `If-Match`. */
      readonly version?: number;
      /** Cookies, and whatever else this answer alone has, beside what every answer has or in its place. */
      readonly headers?: Readonly<Record<string, string | readonly string[]>>;
    }
  | {
      readonly kind: "empty";
      readonly status: 204 | 302 | 304;
      readonly headers?: Readonly<Record<string, string | readonly string[]>>;
    }
  | {
      readonly kind: "text";
      readonly status: number;
      readonly body: string | Buffer | AsyncIterable<Buffer>;
      /** Plain text unless told otherwise. */
      readonly type?: TextType;
    }
  | { readonly kind: "events"; readonly run: (sink: EventSink) => Promise<void> };

export type TextType = "text/plain" | "application/x-ndjson";

/** The request body of a route: what it is validated with, and one that works, which a test sends. */
export type BodyDoc = {
  readonly schema: z.ZodType;
  /** The key that a document has at its top, as `project`. */
  readonly root?: string;
  /** Media types that are understood; JSON and YAML unless told otherwise. */
  readonly types?: readonly string[];
  /** Of a form: the schema and the example are those of its text `spec`, beside which the part `file` stands. */
  readonly form?: { readonly file: "required" | "optional"; readonly spec: "required" | "optional" };
  /** False where the body may be left out. */
  readonly required?: boolean;
  /** A document that defines what is run: unknown fields are refused. Those of any other body are ignored. */
  readonly strict?: true;
  readonly example: unknown;
};

/** What a route says of itself in api/openapi.json; a test calls every operation with its example and checks the answer. */
export type RouteDoc = {
  readonly summary: string;
  readonly description?: string;
  /** Working values of the path's and the query's parameters; what a server makes up itself (an id) may be any. */
  readonly params?: Readonly<Record<string, string>>;
  readonly queryExample?: Readonly<Record<string, string>>;
  /** Names of the path that may name nothing: the answer is another one than 404. */
  readonly mayBeAbsent?: readonly string[];
  readonly body?: BodyDoc;
  /** Of success; 200 unless told otherwise. */
  readonly status?: 201 | 204 | 302;
  /** The whole body of success (`shapes.ts`), the media type of what is not JSON, or nothing. */
  readonly answer: z.ZodType | TextType | "text/event-stream" | "text/html" | "nothing";
  /** Statuses that a public route refuses with beside the usual ones. */
  readonly refuses?: readonly ("401" | "403")[];
  /** The answer says the version of the thing as `ETag`. */
  readonly etag?: boolean;
  /** The version that was read is taken from `If-Match`. */
  readonly ifMatch?: boolean;
  /** The version that is known already is taken from `If-None-Match`, and answered 304. */
  readonly ifNoneMatch?: boolean;
  /** A repeated request is known by `Idempotency-Key`, and starts nothing again. */
  readonly idempotencyKey?: boolean;
  /** Bodies of other statuses that are not the family's error. */
  readonly otherAnswers?: Readonly<Record<number, z.ZodType>>;
};

type Shared = {
  /** `refused`: understood only to be refused by its name; api/openapi.json says what is offered. */
  readonly doc: RouteDoc | "refused";
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Without `/gateway`; parameters as `:name`. */
  readonly path: string;
  /** `noun.verb`, unique; what audit and documentation call it. */
  readonly operation: string;
  readonly errors: ErrorFamily;
  readonly maxBody: number;
  /** Served with a slash at its end too, which some identity providers send. */
  readonly trailingSlash?: true;
  /** The texts of the form that stands in place of a body; beside them there may be a file. */
  readonly form?: FormTexts;
};

export type PrivateRoute = Shared & {
  readonly access: { readonly permission: string };
  /**
   * The query parameter that names the account, the path's `:accountId`, or `header`: `X-Platform-Account` or the query
   * parameter `accountIdentifier`. It must be the credential's own.
   */
  readonly account: "accountIdentifier" | "accountId" | "accountID" | "path" | "header";
  /** Who a credential belongs to here, where that may be more than elsewhere; `account` is the one in the path. */
  readonly authenticate?: (token: string, account: string) => Promise<Actor | undefined>;
  readonly query: z.ZodType;
  readonly handle: (call: Call) => Promise<Answer>;
};

export type PublicRoute = Shared & {
  readonly access: { readonly public: string };
  readonly query: z.ZodType;
  readonly handle: (call: PublicCall) => Promise<Answer>;
};

/**
 * For people who are signed in, about themselves: no permission is asked for, and the handler lets the slice that keeps
 * sessions look at the headers. `session` says what the route is for.
 */
export type SessionRoute = Shared & {
  readonly access: { readonly session: string };
  readonly query: z.ZodType;
  readonly handle: (call: PublicCall) => Promise<Answer>;
};

export type Route = PrivateRoute | PublicRoute | SessionRoute;

/** Bytes of a body at most where nothing else is said: an organization or a connector has a tenth of it. */
const SMALL_BODY = 64 * 1024;
/** For what holds scripts: pipelines, their inputs, triggers. */
export const LARGE_BODY = 256 * 1024;

type Optional<T, K extends keyof T> = Omit<T, K> & Partial<Pick<T, K>>;

/** Declares a route for callers with a credential. The handler sees the query as its schema made it. */
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

/** Declares a route for anyone; `access.public` says why that is right. */
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

/** Declares a route for whoever is signed in. */
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
 * HEAD has the answer of GET without its body; a stream has no end that its head could tell, and where a browser is led
 * on, being there is what does something.
 */
export function methodsOf({ method, doc }: Route): string[] {
  const hasHead = doc === "refused" || (doc.answer !== "text/event-stream" && doc.status !== 302);
  return method === "GET" && hasHead ? ["GET", "HEAD"] : [method];
}
