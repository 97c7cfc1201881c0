import type { IconName } from "../../ui/icon.tsx";
import type { AuditEntry, Principal } from "./audit-request.ts";

/** The usual actions, the most frequent first. Addresses may name others. */
export const ACTIONS = [
  "CREATE",
  "UPDATE",
  "DELETE",
  "START",
  "DELIVER",
  "ADOPT",
  "APPROVE",
  "REJECT",
  "ABORT",
  "RESTORE",
  "REVOKE",
  "ROTATE",
  "LINK",
  "UNLINK",
] as const;

export const RESOURCE_TYPES = [
  "ACCOUNT",
  "API_KEY",
  "AUDIT",
  "CONNECTOR",
  "DELEGATE",
  "ENVIRONMENT",
  "INPUT_SET",
  "ORGANIZATION",
  "PIPELINE",
  "PIPELINE_EXECUTION",
  "PROJECT",
  "RESOURCE_GROUP",
  "ROLE",
  "ROLE_ASSIGNMENT",
  "SECRET",
  "SECRET_MANAGER",
  "SERVICE",
  "SERVICE_ACCOUNT",
  "SESSION",
  "SETTING",
  "TOKEN",
  "TRIGGER",
  "USER",
  "USER_GROUP",
] as const;

/** PIPELINE_EXECUTION → pipeline execution */
export const wordsOf = (constant: string): string =>
  constant
    .toLowerCase()
    .replaceAll("_", " ")
    .replace(/^api\b/, "API")
    .replace(/^smtp\b/, "SMTP");

/** RESTORE_VERSION → Restore version */
export function sentenceOf(constant: string): string {
  const words = wordsOf(constant);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const KINDS: Readonly<Record<Principal, { readonly label: string; readonly icon: IconName }>> = {
  USER: { label: "User", icon: "user" },
  SERVICE_ACCOUNT: { label: "Service account", icon: "terminal" },
  TRIGGER: { label: "Trigger", icon: "bolt" },
  DELEGATE: { label: "Delegate", icon: "server" },
  SYSTEM: { label: "Railhead", icon: "settings" },
  ANONYMOUS: { label: "Not signed in", icon: "question" },
};

/** The value of the filter that finds the other entries of this actor; undefined if it cannot be named. */
export function actorFilterOf({ authenticationInfo: { principal, labels } }: AuditEntry): string | undefined {
  if (principal.type === "USER" && labels.email !== null) return labels.email;
  return principal.identifier === null ? undefined : `${principal.type}:${principal.identifier}`;
}

export const scopeText = ({ orgIdentifier: org, projectIdentifier: project }: AuditEntry["resourceScope"]): string =>
  org === null ? "Account" : project === null ? org : `${org}/${project}`;
