/** The request of an `http` task: composes it with its secrets, sends it, logs it, and makes the result. */
import { type HttpResult, type HttpTask, MAX_RESPONSE_BODY } from "../../protocol/work/http.ts";
import { Unreached } from "../../src/platform/outgoing/unreached.ts";
import type { Surroundings } from "../tasks/in-process-task.ts";
import { composeRequest } from "./compose.ts";
import { bodyOf, headersOf } from "./response.ts";
import { sendRequests } from "./send.ts";

type FailureReason = Extract<HttpResult, { kind: "failure" }>["reason"];

/** Rejects only for a fault of this program: faults of the request, the network and the response are results. */
export async function runRequest(
  task: HttpTask,
  { timers, log, mask, signal, secretValues }: Surroundings,
): Promise<HttpResult> {
  const begunAt = timers.elapsed();
  const durationMs = (): number => Math.round(timers.elapsed() - begunAt);
  const timeout = new AbortController();
  const stopTimer = timers.after(task.timeoutMs, () => timeout.abort());
  try {
    const request = composeRequest(task, secretValues);
    const response = await sendRequests(request, { log, signal: AbortSignal.any([signal, timeout.signal]) });
    const body = bodyOf(response);
    const masked = body === undefined ? null : mask(body);
    if (masked !== null && Buffer.byteLength(masked) > MAX_RESPONSE_BODY) throw tooLarge(request.url.host);
    const type = response.headers["content-type"] ?? "no content type";
    log(`< ${response.status} after ${durationMs()} ms: ${type}, ${response.bytes.length} bytes`);
    if (masked === null) log("The body is no text, and is not taken.");
    const headers = headersOf(response).map(({ name, value }) => ({ name, value: mask(value) }));
    return { kind: "response", status: response.status, headers, body: masked, durationMs: durationMs() };
  } catch (error) {
    if (!(error instanceof Unreached)) throw error;
    const reason = reasonOf(error);
    const message = reason === "responseTooLarge" ? `${error.message} ${LIMIT}` : error.message;
    log(`Failed after ${durationMs()} ms: ${message}`);
    return { kind: "failure", reason, message: mask(message).slice(0, 2_048), durationMs: durationMs() };
  } finally {
    stopTimer();
  }
}

const LIMIT = "This is the limit of a response's body; a script can store a larger one in a file.";

const tooLarge = (host: string): Unreached =>
  new Unreached("Answer too large", `${host} answered with more than ${MAX_RESPONSE_BODY / 1024} KiB.`);

const REASONS = new Map<string, FailureReason>([
  ["Request", "invalid"],
  ["Address", "invalid"],
  ["Timeout", "timeout"],
  ["TLS failure", "tls"],
  ["Redirect", "redirect"],
  ["Redirects", "redirect"],
  ["Answer too large", "responseTooLarge"],
]);

const reasonOf = ({ reason }: Unreached): FailureReason => REASONS.get(reason) ?? "connection";
