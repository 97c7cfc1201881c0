/** Tags of the document: the nouns of operation names, with descriptions. */
import type { Route } from "../../src/platform/http/routes.ts";
import type { Json } from "./schemas.ts";

const TAGS: Readonly<Record<string, string>> = {
  access: "What a user or a service account may do.",
  "api-key": "API keys of users and service accounts; each holds tokens.",
  approval: "Steps that wait for approval: approving and rejecting them.",
  "approval-v1": "Steps that wait for approval, under addresses that begin with `/v1`.",
  audit: "The audit trail: who changed what, when, and which requests were refused.",
  connector: "Connectors: how registries are reached, and with which secrets.",
  delegate: "Delegates: the programs that run steps near their targets.",
  "delegate-group-tags": "The tags of a delegate, by the delegate's name.",
  "delegate-tags": "The tags of a delegate, by the delegate's id.",
  "delegate-token": "Tokens that delegates register with.",
  delivery: "Events of triggers: calls of their webhooks, and replaying them.",
  deployment: "Deployments: which service runs in which environment, and how delivery performs.",
  environment: "Environments that services are deployed to.",
  execution: "Executions of pipelines: start, abort, read, list, and their logs.",
  "execution-v1": "Executions of pipelines, under addresses that begin with `/v1`.",
  invitation: "Links with which users choose their first password.",
  "log-service": "Logs of executions, found by the prefix that clients make of an execution.",
  graphql: "GraphQL; api/schema.graphql describes it.",
  health: "Probes for load balancers and service managers.",
  identity: "Identities of an identity provider that users sign in with.",
  "input-set": "Input sets: named runtime inputs of a pipeline.",
  organization: "Organizations, which hold projects.",
  ownership: "Who answers for triggers and pipelines, and taking them over from a user who leaves.",
  overlay: "Overlays: lists of input sets of which later ones win.",
  password: "The password of the user who is signed in.",
  permission: "The permissions that roles may hold.",
  pipeline: "Pipelines, their versions and their validation.",
  "pipeline-v1": "Pipelines, under addresses that begin with `/v1`.",
  project: "Projects, which hold pipelines, connectors, secrets and more.",
  "resource-group": "Resource groups: which resources a role counts for, in the first version of the interface.",
  "resource-group-v2": "Resource groups: which resources a role counts for.",
  role: "Roles: named sets of permissions.",
  "role-assignment": "Role assignments: who has which role over which resource group.",
  "scim-config": "What the SCIM interface supports.",
  "scim-group": "Groups that an identity provider manages over SCIM.",
  "scim-older-config": "What the SCIM interface supports, under its older address.",
  "scim-older-group": "Groups over SCIM, under its older address.",
  "scim-older-resource-type": "The SCIM resource types, under the older address.",
  "scim-older-schema": "The SCIM schemas, under the older address.",
  "scim-older-user": "Users over SCIM, under its older address.",
  "scim-resource-type": "The types of resources that SCIM knows here.",
  "scim-schema": "The SCIM schemas of users and groups.",
  "scim-user": "Users that an identity provider manages over SCIM.",
  secret: "Secrets: values that steps may read and no answer contains.",
  "secret-manager": "Secret managers, which wrap the keys of secrets.",
  service: "Services: what is deployed.",
  "service-account": "Service accounts: callers that are no persons.",
  session: "Sessions of users in a browser.",
  setting: "Settings of the account, its organizations and projects.",
  "smtp-config": "The mail server of the account, with which steps send mails.",
  "single-sign-on": "Signing in with an identity provider (OpenID Connect).",
  tag: "Tags of applications, services and environments.",
  token: "Tokens of API keys.",
  trigger: "Triggers, which start pipelines by webhook.",
  user: "Users of the account.",
  "user-group": "User groups, with their members by id.",
  "user-group-v2": "User groups, with their members by e-mail address.",
  webhook: "Calls of webhooks, and what became of them.",
  "yaml-snippet": "Pieces of documents to begin with, for editors.",
  "yaml-schema": "JSON Schemas of documents, for editors.",
};

export const tagOf = ({ operation }: Pick<Route, "operation">): string => operation.split(".")[0] ?? "";

/** The tags of the operations, sorted by name. Throws if a tag has no description here. */
export function tagsOf(routes: readonly Route[]): Json[] {
  const used = routes.filter(({ doc }) => doc !== "refused").map((route) => tagOf(route));
  return [...new Set(["graphql", ...used])].toSorted().map((name) => {
    const description = TAGS[name];
    if (description === undefined)
      throw new Error(`The tag ${name} has no description. Add a line for it to scripts/openapi/tags.ts.`);
    return { name, description };
  });
}
