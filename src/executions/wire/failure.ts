/** What the REST family says of a failure. */
import type { FailureType } from "../../engine/index.ts";
import type { StageState } from "../stage.ts";

/** The words of the REST family. It has none for expressions: the configuration is wrong. */
const TYPES: Readonly<Record<FailureType, string>> = {
  Unknown: "UNKNOWN_FAILURE",
  ApplicationError: "APPLICATION_ERROR",
  Authentication: "AUTHENTICATION",
  Connectivity: "CONNECTIVITY",
  Timeout: "TIMEOUT_ERROR",
  Authorization: "AUTHORIZATION_ERROR",
  Verification: "VERIFICATION_FAILURE",
  DelegateProvisioning: "DELEGATE_PROVISIONING",
  DelegateRestart: "DELEGATE_RESTART",
  ExpressionEvaluation: "CONFIGURATION_FAILURE",
  PolicyEvaluationFailure: "POLICY_EVALUATION_FAILURE",
  InputTimeoutError: "INPUT_TIMEOUT_FAILURE",
  ApprovalRejection: "APPROVAL_REJECTION",
  UserMarkedFailure: "USER_MARKED_FAILURE",
  InfrastructureFailure: "INFRASTRUCTURE_FAILURE",
  ResourceLimitsFailure: "RESOURCE_LIMITS_FAILURE",
  ConfigurationFailure: "CONFIGURATION_FAILURE",
};

/** Of a node that has not failed: clients read members of it without a check. */
export const NO_FAILURE = { message: "", failureTypeList: [], responseMessages: [], logTail: null };

export const failureOf = (state: Pick<StageState, "failure"> | undefined) =>
  state?.failure
    ? {
        message: state.failure.message,
        failureTypeList: state.failure.types.map((type) => TYPES[type]),
        responseMessages: [],
        logTail: state.failure.log ?? null,
      }
    : null;
