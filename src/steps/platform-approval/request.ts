/** What an approval step asks of the approvals slice, and what it gets. Both are stored as JSON. */

export type InputRule =
  | { readonly kind: "allowedValues" | "selectOneFrom" | "selectManyFrom"; readonly values: readonly string[] }
  | { readonly kind: "regex"; readonly pattern: string };

/** A value that an approver enters. */
export type ApproverInput = {
  readonly name: string;
  readonly defaultValue: string;
  readonly required: boolean;
  readonly rule: InputRule | null;
};

export type Approvers = {
  /** References of groups and service accounts, as seen from the project. */
  readonly userGroups: readonly string[];
  readonly serviceAccounts: readonly string[];
  readonly minimumCount: number;
  readonly disallowPipelineExecutor: boolean;
  readonly disallowedUserEmails: readonly string[];
};

export type ApprovalRequest = {
  readonly message: string;
  readonly approvers: Approvers;
  readonly inputs: readonly ApproverInput[];
  readonly includePipelineExecutionHistory: boolean;
  /** Epoch milliseconds. */
  readonly deadline: number;
  readonly callbackId: string | null;
  readonly place: { readonly orgIdentifier: string; readonly projectIdentifier: string };
};

/** What one approver did. `approvedAt` is the time of a rejection, too. */
export type ApprovalActivity = {
  readonly user: { readonly name: string; readonly email: string };
  readonly action: "APPROVE" | "REJECT";
  readonly comments: string;
  readonly approverInputs: readonly { readonly name: string; readonly value: string }[];
  readonly approvedAt: number;
};

export type ApprovalAnswer = {
  readonly decision: "pending" | "approved" | "rejected";
  /** All of them, in their order. */
  readonly activities: readonly ApprovalActivity[];
};
