/**
 * The GraphQL schema: each slice adds its types, in the order of scripts/import-rules.ts, and may extend those of
 * earlier slices.
 */
import type { GraphQLSchema } from "graphql";
import { addApprovalTypes } from "./approvals/index.ts";
import { addUserGroupTypes, type UserGroups } from "./access/index.ts";
import { addAuditTypes } from "./audit/index.ts";
import { addDelegateTypes } from "./delegates/index.ts";
import { addEnvironmentTypes } from "./environments/index.ts";
import { addExecutionMutations, addExecutionTypes, type Executions } from "./executions/index.ts";
import { addIdentityTypes } from "./identity/index.ts";
import { addPipelineTypes } from "./pipelines/index.ts";
import { createBuilder } from "./platform/graphql/builder.ts";
import { addProjectTypes, type Projects } from "./projects/index.ts";
import { addTagMutations, type TagOperations } from "./tags/index.ts";
import { addTriggerTypes } from "./triggers/index.ts";
import { addSecretTypes, type Secrets } from "./secrets/index.ts";

type Slices = {
  readonly access: { readonly userGroups: UserGroups };
  readonly users: Omit<Parameters<typeof addIdentityTypes>[2], "userGroups">;
  readonly audits: Parameters<typeof addAuditTypes>[2];
  readonly projects: Projects;
  readonly environments: Parameters<typeof addEnvironmentTypes>[2] &
    Pick<TagOperations, "tagEnvironment" | "tagService">;
  readonly secrets: Secrets;
  readonly delegates: Parameters<typeof addDelegateTypes>[1];
  readonly pipelines: Parameters<typeof addPipelineTypes>[2] & Pick<TagOperations, "tagPipeline">;
  readonly executions: Executions;
  readonly approvals: Parameters<typeof addApprovalTypes>[1];
  readonly triggers: Parameters<typeof addTriggerTypes>[2];
};

/** Adds the types in the order of the slices: a type can refer to those added before. */
export function buildSchema(slices: Slices): GraphQLSchema {
  const { access, users, audits, projects, environments, secrets, delegates, pipelines, executions, triggers } = slices;
  const builder = createBuilder();
  const groups = addUserGroupTypes(builder, access.userGroups);
  const { User } = addIdentityTypes(builder, groups, { ...users, userGroups: access.userGroups });
  const { Application } = addProjectTypes(builder, { User }, projects);
  const placed = addEnvironmentTypes(builder, { Application, User }, environments);
  addAuditTypes(builder, { User }, audits);
  addSecretTypes(builder, secrets);
  addDelegateTypes(builder, delegates);
  const piped = addPipelineTypes(builder, { Application, User }, pipelines);
  const { Execution, Trigger } = addExecutionTypes(builder, { Application, User, ...placed, ...piped }, executions);
  addExecutionMutations(builder, Execution, executions);
  addApprovalTypes(builder, slices.approvals);
  const { tagApplication } = projects;
  const { tagEnvironment, tagService } = environments;
  addTagMutations(builder, { tagApplication, tagEnvironment, tagService, tagPipeline: pipelines.tagPipeline });
  addTriggerTypes(builder, Trigger, triggers);
  return builder.toSchema();
}
