/** How the connection to a mail server is protected. */
export type Security = "starttls" | "tls" | "none";

export const SECURITY_LABELS: Readonly<Record<Security, string>> = {
  starttls: "STARTTLS",
  tls: "TLS from the beginning",
  none: "None, mails can be read on their way",
};

/** The usual port of each. */
export const PORTS: Readonly<Record<Security, string>> = { starttls: "587", tls: "465", none: "25" };

export const securityOf = ({ useSSL, startTLS }: { readonly useSSL: boolean; readonly startTLS: boolean }): Security =>
  useSSL ? "tls" : startTLS ? "starttls" : "none";
