import { toWire, type Uuid } from "../core/ids.ts";
import type { UserNode } from "../identity/index.ts";
import { createBatch } from "../platform/graphql/request/batch.ts";
import {
  listOf,
  listType,
  payloadOf,
  payloadType,
  tagsOf,
  window,
  type Builder,
  type GraphqlContext,
  type NodeRef,
} from "../platform/graphql/builder.ts";
import type {
  CreateApplication,
  GetApplication,
  GetApplications,
  GetApplicationByName,
  ListApplications,
  UpdateApplication,
} from "./applications/operations.ts";
import type { DeleteApplication } from "./delete.ts";
import { problem } from "./problems.ts";
import type { Application } from "./project.ts";

/**
 * An application, possibly with only some fields from another list. Missing fields are read when a query selects them.
 */
export type ApplicationNode = Pick<Application, "id" | "name"> & Partial<Application>;

export type ApplicationOperations = {
  readonly getApplication: GetApplication;
  readonly getApplications: GetApplications;
  readonly getApplicationByName: GetApplicationByName;
  readonly listApplications: ListApplications;
  readonly createApplication: CreateApplication;
  readonly updateApplication: UpdateApplication;
  readonly deleteApplication: DeleteApplication;
};

/** `Application` with its queries and mutations. */
export function addProjectTypes(
  builder: Builder,
  types: { User: NodeRef<UserNode> },
  operations: ApplicationOperations,
): { Application: NodeRef<ApplicationNode> } {
  const Application = applicationType(builder, types.User, operations);
  addQueries(builder, Application, operations);
  addMutations(builder, Application, operations);
  return { Application };
}

function applicationType(
  builder: Builder,
  User: NodeRef<UserNode>,
  operations: ApplicationOperations,
): NodeRef<ApplicationNode> {
  const read = createBatch(({ actor }: GraphqlContext, ids: readonly Uuid[]) => operations.getApplications(actor, ids));
  const whole = async (node: ApplicationNode, context: GraphqlContext): Promise<Application> =>
    isComplete(node) ? node : read(context, node.id, "");
  const GitSyncConfig = gitSyncType(builder);
  return builder.objectRef<ApplicationNode>("Application").implement({
    fields: (t) => ({
      id: t.string({ resolve: (application) => toWire(application.id) }),
      name: t.exposeString("name"),
      description: t.string({ resolve: async (node, _args, context) => (await whole(node, context)).description }),
      createdAt: t.field({
        type: "Long",
        resolve: async (node, _args, context) => (await whole(node, context)).createdAt,
      }),
      createdBy: t.field({
        type: User,
        resolve: async (node, _args, context) => (await whole(node, context)).createdBy,
      }),
      tags: t.field({
        type: ["Tag"],
        resolve: async (node, _args, context) => tagsOf((await whole(node, context)).tags),
      }),
      isManualTriggerAuthorized: t.boolean({
        description: "Always false: users who may run a pipeline may run it manually.",
        resolve: () => false,
      }),
      gitSyncConfig: t.field({
        type: GitSyncConfig,
        description: "Always null: applications are not kept in git.",
        resolve: () => null,
      }),
    }),
  });
}

const isComplete = (node: ApplicationNode): node is Application => node.createdBy !== undefined;

type GitSyncConfig = {
  readonly branch: string;
  readonly repositoryName: string;
  readonly syncEnabled: boolean;
  readonly gitConnector: { readonly id: string; readonly name: string; readonly branch: string };
};

/** No application has one. The type exists for queries that select it. */
function gitSyncType(builder: Builder): NodeRef<GitSyncConfig> {
  const Connector = builder.objectRef<GitSyncConfig["gitConnector"]>("GitConnector").implement({
    fields: (t) => ({ id: t.exposeString("id"), name: t.exposeString("name"), branch: t.exposeString("branch") }),
  });
  return builder.objectRef<GitSyncConfig>("GitSyncConfig").implement({
    fields: (t) => ({
      branch: t.exposeString("branch"),
      repositoryName: t.exposeString("repositoryName"),
      syncEnabled: t.exposeBoolean("syncEnabled"),
      gitConnector: t.expose("gitConnector", { type: Connector }),
    }),
  });
}

function addQueries(builder: Builder, Application: NodeRef<ApplicationNode>, operations: ApplicationOperations): void {
  const ApplicationList = listType(builder, "ApplicationConnection", Application);
  builder.queryFields((t) => ({
    applications: t.field({
      type: ApplicationList,
      args: { limit: t.arg.int(), offset: t.arg.int() },
      extensions: { permission: "core_project_view" },
      resolve: async (_root, args, { actor }) => {
        const { limit, offset } = window(args);
        return listOf<ApplicationNode>(await operations.listApplications(actor, limit, offset));
      },
    }),
    application: t.field({
      type: Application,
      args: { applicationId: t.arg.string({ required: true }) },
      extensions: { permission: "core_project_view" },
      resolve: (_root, { applicationId }, { actor }) => operations.getApplication(actor, applicationId),
    }),
    applicationByName: t.field({
      type: Application,
      args: { name: t.arg.string({ required: true }) },
      extensions: { permission: "core_project_view" },
      resolve: (_root, { name }, { actor }) => operations.getApplicationByName(actor, name),
    }),
  }));
}

type Switches = {
  readonly isManualTriggerAuthorized?: boolean | null | undefined;
  readonly areWebhookSecretsMandated?: boolean | null | undefined;
};

/** Switches of unsupported features accept only `false`. */
function rejectSwitches(input: Switches): void {
  for (const name of ["isManualTriggerAuthorized", "areWebhookSecretsMandated"] as const)
    if (input[name] === true) throw problem("project.cannot_be_true", [name]);
}

function addMutations(
  builder: Builder,
  Application: NodeRef<ApplicationNode>,
  operations: ApplicationOperations,
): void {
  const payload = (name: string) =>
    payloadType<{ application: ApplicationNode }>(builder, name, (t) => ({
      application: t.field({ type: Application, resolve: ({ application }) => application }),
    }));
  const CreatePayload = payload("CreateApplicationPayload");
  const UpdatePayload = payload("UpdateApplicationPayload");
  const DeletePayload = payloadType(builder, "DeleteApplicationPayload");
  const inputs = inputTypes(builder);
  builder.mutationFields((t) => ({
    createApplication: t.field({
      type: CreatePayload,
      args: { input: t.arg({ type: inputs.Create, required: true }) },
      extensions: { permission: "core_project_create" },
      resolve: async (_root, { input }, { actor }) => {
        rejectSwitches(input);
        const { name, description } = input;
        return payloadOf(input, { application: await operations.createApplication(actor, { name, description }) });
      },
    }),
    updateApplication: t.field({
      type: UpdatePayload,
      args: { input: t.arg({ type: inputs.Update, required: true }) },
      extensions: { permission: "core_project_edit" },
      resolve: async (_root, { input }, { actor }) => {
        rejectSwitches(input);
        const { applicationId, name, description } = input;
        const changes = { name, description };
        return payloadOf(input, { application: await operations.updateApplication(actor, applicationId, changes) });
      },
    }),
    deleteApplication: t.field({
      type: DeletePayload,
      args: { input: t.arg({ type: inputs.Delete, required: true }) },
      extensions: { permission: "core_project_delete" },
      resolve: async (_root, { input }, { actor }) => {
        await operations.deleteApplication(actor, input.applicationId);
        return payloadOf(input, {});
      },
    }),
  }));
}

function inputTypes(builder: Builder) {
  const Create = builder.inputType("CreateApplicationInput", {
    fields: (t) => ({
      name: t.string({ required: true }),
      description: t.string(),
      isManualTriggerAuthorized: t.boolean({ description: "Only false." }),
      areWebhookSecretsMandated: t.boolean({ description: "Only false." }),
      clientMutationId: t.string(),
    }),
  });
  const Update = builder.inputType("UpdateApplicationInput", {
    fields: (t) => ({
      applicationId: t.string({ required: true }),
      name: t.string(),
      description: t.string(),
      isManualTriggerAuthorized: t.boolean({ description: "Only false." }),
      areWebhookSecretsMandated: t.boolean({ description: "Only false." }),
      clientMutationId: t.string(),
    }),
  });
  const Delete = builder.inputType("DeleteApplicationInput", {
    fields: (t) => ({ applicationId: t.string({ required: true }), clientMutationId: t.string() }),
  });
  return { Create, Update, Delete };
}
