/** A fault of a document, with its place. Lines and columns count from 1. */
export type DocumentFault = {
  readonly message: string;
  readonly path: string;
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** What to write instead. */
  readonly hint: string | undefined;
  /** A warning does not keep the document from being saved. Default: error. */
  readonly severity?: "error" | "warning";
};

/** The refusal of a request by the API. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** As in docs/errors.md. */
  readonly code: string;
  readonly correlationId: string | undefined;
  readonly faults: readonly DocumentFault[];
  readonly retryAfterSeconds: number | undefined;

  constructor(facts: {
    readonly status: number;
    readonly code: string;
    readonly message: string;
    readonly correlationId?: string | undefined;
    readonly faults?: readonly DocumentFault[];
    readonly retryAfterSeconds?: number | undefined;
  }) {
    super(facts.message);
    this.status = facts.status;
    this.code = facts.code;
    this.correlationId = facts.correlationId;
    this.faults = facts.faults ?? [];
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

type Refusal = {
  readonly code?: string;
  readonly message?: string;
  readonly correlationId?: string;
  readonly metadata?: { readonly schemaErrors?: readonly SchemaError[] } | null;
  readonly responseMessages?: readonly { readonly code?: string; readonly message?: string }[];
};
type SchemaError = {
  readonly message?: string;
  readonly fqn?: string;
  readonly line?: number | null;
  readonly column?: number | null;
  readonly hintMessage?: string | null;
};

/** The error of an answer. Reads its body. */
export async function errorOf(answer: Response): Promise<ApiError> {
  const refusal = await answer
    .json()
    .then((body: unknown) => (typeof body === "object" && body !== null ? (body as Refusal) : {}))
    .catch((): Refusal => ({}));
  const first = refusal.responseMessages?.[0];
  const retryAfter = Number(answer.headers.get("retry-after") ?? "");
  return new ApiError({
    status: answer.status,
    code: refusal.code ?? first?.code ?? `HTTP_${answer.status}`,
    message: refusal.message ?? first?.message ?? `The server answered ${answer.status}.`,
    correlationId: refusal.correlationId,
    faults: (refusal.metadata?.schemaErrors ?? []).map((fault) => ({
      message: fault.message ?? "",
      path: fault.fqn ?? "",
      line: fault.line ?? undefined,
      column: fault.column ?? undefined,
      hint: fault.hintMessage ?? undefined,
    })),
    retryAfterSeconds: retryAfter > 0 ? retryAfter : undefined,
  });
}

/** Whether the resource was changed since the version of `If-Match` was read. */
export const isStaleVersion = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 402 && error.code === "OPTIMISTIC_LOCKING_EXCEPTION";

/** The sentence to show for any error. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  // fetch rejects with a TypeError if there is no answer.
  if (error instanceof TypeError) return "The server cannot be reached. Check the connection and try again.";
  return error instanceof Error ? error.message : String(error);
}
