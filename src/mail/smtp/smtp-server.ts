/** How a connection to the mail server is protected: TLS from the beginning, TLS after STARTTLS, or not at all. */
export type Security = "tls" | "starttls" | "none";

/** The mail server of an account. */
export type SmtpServer = {
  readonly host: string;
  readonly port: number;
  readonly security: Security;
  /** Null for a server that asks for none. Present only with TLS. */
  readonly login: { readonly username: string; readonly password: string } | null;
};
