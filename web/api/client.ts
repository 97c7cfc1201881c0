import { addressOf } from "./address.ts";
import { errorOf } from "./api-error.ts";
import type { AnyOperation, Operation } from "./operation.ts";
import { currentSession, waitForSignIn } from "./session.ts";

type Values = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** The parts of a request that the operation has. Parts of the path and required parameters have to be given. */
export type RequestOf<Op> =
  Op extends Operation<infer Path, infer Query, infer Body, unknown>
    ? (keyof Path extends never ? { readonly path?: undefined } : { readonly path: Path }) &
        (Record<string, never> extends Query ? { readonly query?: Query } : { readonly query: Query }) &
        (undefined extends Body ? { readonly body?: Body } : { readonly body: Body })
    : never;

export type AnswerOf<Op> = Op extends Operation<infer _P, infer _Q, infer _B, infer Answer> ? Answer : never;
/** The `data` of the envelope. */
export type DataOf<Op> = AnswerOf<Op> extends { readonly data: infer Data } ? Data : never;

export type RequestOptions = {
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** The content type of a body that is text. Default: application/yaml. */
  readonly contentType?: string;
};

type Parts = { readonly path?: Values; readonly query?: Values; readonly body?: unknown };

/**
 * Sends the request with the session. If the session has ended, it waits until the user has signed in again, and sends
 * the request then. Throws ApiError for refusals, TypeError if there is no answer.
 */
export async function send(operation: AnyOperation, parts: Parts, options: RequestOptions = {}): Promise<Response> {
  let answer = await sendOnce(operation, parts, options);
  if (answer.status === 401) {
    await waitForSignIn(options.signal);
    answer = await sendOnce(operation, parts, options);
  }
  if (!answer.ok) throw await errorOf(answer);
  return answer;
}

function sendOnce(operation: AnyOperation, parts: Parts, options: RequestOptions): Promise<Response> {
  const { accountIdentifier, csrfToken } = currentSession();
  const headers = new Headers({ accept: "application/json", ...options.headers, "x-csrf-token": csrfToken });
  return fetch(addressOf(operation, { ...parts, accountId: accountIdentifier }), {
    method: operation.method,
    headers,
    body: encodeBody(parts.body, headers, options.contentType),
    signal: options.signal ?? null,
    cache: "no-store",
  });
}

function encodeBody(body: unknown, headers: Headers, contentType = "application/yaml"): BodyInit | null {
  if (body === undefined) return null;
  if (body instanceof FormData) return body;
  headers.set("content-type", typeof body === "string" ? contentType : "application/json");
  return typeof body === "string" ? body : JSON.stringify(body);
}

/** The whole answer of the operation, with its version if it has one. */
export async function request<Op extends AnyOperation>(
  operation: Op,
  parts: RequestOf<Op>,
  options?: RequestOptions,
): Promise<{ readonly answer: AnswerOf<Op>; readonly etag: string | undefined }> {
  const response = await send(operation, parts as Parts, options);
  const type = response.headers.get("content-type") ?? "";
  const answer = (
    response.status === 204 ? undefined : await (type.includes("json") ? response.json() : response.text())
  ) as AnswerOf<Op>;
  return { answer, etag: response.headers.get("etag") ?? undefined };
}

/** The `data` of the operation's answer. */
export async function fetchData<Op extends AnyOperation>(
  operation: Op,
  parts: RequestOf<Op>,
  options?: RequestOptions,
): Promise<DataOf<Op>> {
  const { answer } = await request(operation, parts, options);
  return (answer as { readonly data: DataOf<Op> }).data;
}

/** The options of useQuery and of loaders for the operation's `data`. */
export function dataQuery<Op extends AnyOperation>(operation: Op, parts: RequestOf<Op>) {
  return {
    queryKey: [operation.id, parts] as const,
    queryFn: ({ signal }: { readonly signal: AbortSignal }): Promise<DataOf<Op>> =>
      fetchData(operation, parts, { signal }),
  };
}

/** The same for the whole answer with its version. */
export function answerQuery<Op extends AnyOperation>(operation: Op, parts: RequestOf<Op>) {
  return {
    queryKey: [operation.id, parts, "answer"] as const,
    queryFn: ({ signal }: { readonly signal: AbortSignal }) => request(operation, parts, { signal }),
  };
}
