/** All settings. */
import { SCOPE_IDENTIFIER } from "../core/identifier.ts";
import type { Definition } from "./setting.ts";

const httpAddress = (value: string): string | undefined => {
  const url = URL.parse(value);
  if (url && (url.protocol === "https:" || url.protocol === "http:") && url.username === "" && url.password === "")
    return undefined;
  return "must be an http or https address without a user name in it";
};
const notEmpty = (value: string): string | undefined => (value.trim() === "" ? "must not be empty" : undefined);
const identifier = (value: string): string | undefined =>
  SCOPE_IDENTIFIER.test(value) ? undefined : "must be the identifier of a service account";

const scimJwt = { category: "CORE", group: "scim", type: "String", defaultValue: "", levels: ["account"] } as const;
const limit = { category: "CORE", group: "limits", type: "Number", levels: ["account"] } as const;
const positive = (value: string): string | undefined => (Number(value) === 0 ? "must be at least 1" : undefined);
const waiting = { category: "PMS", group: "triggers", type: "Number", levels: ["account"], fault: positive } as const;

const retentionSetting = { category: "PMS", group: "retention", type: "Number", levels: ["account"] } as const;

const concurrency = { category: "PMS", group: "concurrency", type: "Number", defaultValue: "0" } as const;

export const CATALOGUE = [
  {
    ...scimJwt,
    identifier: "scim_jwt_token_jwks_keys_url",
    name: "Address of the JWKS document that SCIM tokens are verified with",
    fault: httpAddress,
  },
  {
    ...scimJwt,
    identifier: "scim_jwt_token_key_field",
    name: "Name of the claim that a SCIM token must carry",
    fault: notEmpty,
  },
  {
    ...scimJwt,
    identifier: "scim_jwt_token_value_field",
    name: "Value that this claim must have",
    fault: notEmpty,
  },
  {
    ...scimJwt,
    identifier: "scim_jwt_token_service_account_id",
    name: "Service account that SCIM tokens act as",
    fault: identifier,
  },
  {
    ...limit,
    identifier: "requests_per_minute_account",
    name: "Requests of the whole account in a minute",
    defaultValue: "120000",
    fault: positive,
  },
  {
    ...limit,
    identifier: "requests_per_minute_token",
    name: "Requests with one token in a minute",
    defaultValue: "60000",
    fault: positive,
  },
  {
    identifier: "delegate_approval_required",
    name: "Delegates that register for the first time wait for approval",
    category: "CORE",
    group: "delegates",
    type: "Boolean",
    defaultValue: "false",
    levels: ["account"],
    allowedValues: ["true", "false"],
  },
  {
    identifier: "audit_retention_days",
    name: "Days that the audit trail is kept; 0 keeps it for ever",
    category: "CORE",
    group: "audit",
    type: "Number",
    defaultValue: "0",
    levels: ["account"],
  },
  {
    ...retentionSetting,
    identifier: "execution_retention_days",
    name: "Days that ended executions are kept, with their logs and tasks; 0 keeps them for ever",
    defaultValue: "365",
  },
  {
    ...retentionSetting,
    identifier: "execution_retention_count",
    name: "Executions of each pipeline that are kept, the newest run numbers; 0 keeps all",
    defaultValue: "100000",
  },
  {
    ...retentionSetting,
    identifier: "log_retention_days",
    name: "Days that the logs of ended executions are kept; 0 keeps them as long as the executions",
    defaultValue: "90",
  },
  {
    ...retentionSetting,
    identifier: "delivery_retention_days",
    name: "Days that processed webhook events are kept; 0 keeps them as long as what they started",
    defaultValue: "30",
  },
  {
    ...retentionSetting,
    identifier: "delivery_retention_count",
    name: "Webhook events of each trigger that are kept, the newest; 0 keeps all",
    defaultValue: "10000",
  },
  {
    ...waiting,
    identifier: "webhook_waiting_per_trigger",
    name: "Events of one trigger that may wait to be processed",
    defaultValue: "1000",
  },
  {
    ...waiting,
    identifier: "webhook_waiting_per_account",
    name: "Events of the account that may wait to be processed",
    defaultValue: "10000",
  },
  {
    ...waiting,
    identifier: "webhook_waiting_mebibytes",
    name: "MiB of bodies that the waiting events of the account may have",
    defaultValue: "256",
  },
  {
    ...concurrency,
    identifier: "concurrent_executions_per_account",
    name: "Executions of the account that run at the same time; further ones are queued; 0 sets no limit",
    levels: ["account"],
  },
  {
    ...concurrency,
    identifier: "concurrent_executions_per_project",
    name: "Executions of a project that run at the same time; further ones are queued; 0 sets no limit",
    levels: ["account", "organization", "project"],
  },
  {
    ...concurrency,
    identifier: "concurrent_executions_per_pipeline",
    name: "Executions of a pipeline that run at the same time; further ones are queued; 0 sets no limit",
    levels: ["account", "organization", "project"],
  },
  {
    identifier: "mandate_custom_webhook_authorization",
    name: "Custom webhooks ask for an API key that may run the pipeline",
    category: "PMS",
    group: "triggers",
    type: "Boolean",
    defaultValue: "false",
    levels: ["account", "organization", "project"],
    allowedValues: ["true", "false"],
  },
] as const satisfies readonly Definition[];

export type SettingIdentifier = (typeof CATALOGUE)[number]["identifier"];

const byIdentifier = new Map<string, Definition>(CATALOGUE.map((one) => [one.identifier, one]));

export const definitionOf = (identifier: string): Definition | undefined => byIdentifier.get(identifier);
