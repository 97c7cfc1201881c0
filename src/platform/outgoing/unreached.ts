/** The reason why no answer arrived. Both texts contain nothing of the request except the host. */
export class Unreached extends Error {
  /** A few words, equal for equal causes. */
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.name = "Unreached";
    this.reason = reason;
  }
}

type Cause = { readonly reason: string; readonly text: (host: string) => string };

const UNKNOWN_HOST: Cause = { reason: "Unknown host", text: (host) => `The name in ${host} is not known (DNS).` };
const NO_WAY: Cause = { reason: "No route", text: (host) => `There is no way to ${host} from here.` };
const CUT: Cause = { reason: "Connection lost", text: (host) => `${host} closed the connection without an answer.` };
const SLOW: Cause = { reason: "Timeout", text: (host) => `${host} did not answer in time.` };
const NO_TLS: Cause = { reason: "TLS failure", text: (host) => `${host} does not speak TLS as https needs it.` };

const CAUSES: Readonly<Record<string, Cause>> = {
  ENOTFOUND: UNKNOWN_HOST,
  EAI_AGAIN: { reason: "Unknown host", text: (host) => `The name in ${host} could not be looked up (DNS).` },
  ECONNREFUSED: { reason: "Connection refused", text: (host) => `${host} refused the connection.` },
  EHOSTUNREACH: NO_WAY,
  ENETUNREACH: NO_WAY,
  ECONNRESET: CUT,
  EPIPE: CUT,
  ETIMEDOUT: SLOW,
  EPROTO: NO_TLS,
};

/** Converts an error of a request to `host` for the user who configured it. */
export function toUnreached(error: unknown, host: string, signal: AbortSignal): Unreached {
  if (error instanceof Unreached) return error;
  if (signal.aborted) return new Unreached(SLOW.reason, SLOW.text(host));
  const code = codeOf(error);
  const known = CAUSES[code];
  if (known) return new Unreached(known.reason, known.text(host));
  if (code.startsWith("HPE_")) return new Unreached("Not HTTP", `${host} does not speak HTTP.`);
  if (code.startsWith("ERR_SSL_")) return new Unreached(NO_TLS.reason, NO_TLS.text(host));
  // The other TLS codes name the fault of the certificate.
  if (/CERT|SIGNATURE|ISSUER|CHAIN|ALTNAME|ERR_TLS/.test(code))
    return new Unreached("TLS failure", `The certificate of ${host} is not trusted: ${code}.`);
  return new Unreached("Connection failed", `The connection to ${host} failed${code === "" ? "" : `: ${code}`}.`);
}

/** Of several tried addresses, the first failure is the most informative. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}
