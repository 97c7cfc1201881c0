import type { Actor } from "../core/actor.ts";
import { toWire } from "../core/ids.ts";
import { listOf, listType, window, type Builder, type NodeRef } from "../platform/graphql/builder.ts";
import type { GetApplication, ListApplications } from "./get.ts";
import type { Application } from "./project.ts";

/** An application, or as much of it as another list brought along; what is missing is read when it is asked for. */
export type ApplicationNode = Pick<Application, "id" | "name"> & Partial<Application>;

/** `Application`, `applications`, `application` (spec.md, "GraphQL operations"). */
export function addProjectTypes(
  builder: Builder,
  verbs: { getApplication: GetApplication; listApplications: ListApplications },
): { Application: NodeRef<ApplicationNode> } {
  const whole = async ({ id, name, description, createdAt }: ApplicationNode, actor: Actor): Promise<Application> =>
    description === undefined || createdAt === undefined
      ? verbs.getApplication(actor, toWire(id))
      : { id, name, description, createdAt };
  const Application = builder.objectRef<ApplicationNode>("Application").implement({
    fields: (t) => ({
      id: t.string({ resolve: (application) => toWire(application.id) }),
      name: t.exposeString("name"),
      description: t.string({
        resolve: async (application, _args, { actor }) => (await whole(application, actor)).description,
      }),
      createdAt: t.field({
        type: "Long",
        resolve: async (application, _args, { actor }) => (await whole(application, actor)).createdAt,
      }),
    }),
  });
  const ApplicationList = listType(builder, "ApplicationConnection", Application);
  builder.queryFields((t) => ({
    applications: t.field({
      type: ApplicationList,
      args: { limit: t.arg.int(), offset: t.arg.int() },
      extensions: { permission: "core_project_view" },
      resolve: async (_root, args, { actor }) => {
        const { limit, offset } = window(args);
        return listOf<ApplicationNode>(await verbs.listApplications(actor, limit, offset));
      },
    }),
    application: t.field({
      type: Application,
      args: { applicationId: t.arg.string({ required: true }) },
      extensions: { permission: "core_project_view" },
      resolve: (_root, { applicationId }, { actor }) => verbs.getApplication(actor, applicationId),
    }),
  }));
  return { Application };
}
