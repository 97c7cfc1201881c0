/** What an Email step asks of the mail slice, and what it gets. Both are stored as JSON. */

export type MailRequest = {
  readonly to: readonly string[];
  readonly cc: readonly string[];
  /** References of user groups, as seen from the project. */
  readonly toUserGroups: readonly string[];
  readonly ccUserGroups: readonly string[];
  readonly subject: string;
  readonly body: string;
  readonly fireAndForget: boolean;
  /** Epoch milliseconds; no try begins after it. */
  readonly deadlineAt: number;
  readonly place: { readonly orgIdentifier: string; readonly projectIdentifier: string };
};

export type MailAnswer =
  /** The end is not awaited. */
  | { readonly kind: "queued" }
  | { readonly kind: "sent"; readonly recipients: number }
  /** `unknown`: it may have been delivered. */
  | { readonly kind: "failed" | "unknown"; readonly message: string };
