/**
 * Operations on applications. GraphQL calls projects applications, names them by id and name, and has no organizations.
 */
import { z } from "zod";
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { isReserved } from "../../core/identifier.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import type { Page } from "../../core/page.ts";
import type { Problem } from "../../core/problem.ts";
import type { Refusal } from "../../core/refused.ts";
import type { Audit } from "../../audit/index.ts";
import { authorize, authorizeSomewhere, reach, refusalOf, type Authorize } from "../../access/index.ts";
import type { Db, Store, Tx } from "../../platform/db/db.ts";
import { description, displayName } from "../../platform/document/fields.ts";
import { validateValue } from "../../platform/document/validate.ts";
import type { CreateProject } from "../create.ts";
import { problem } from "../problems.ts";
import { DEFAULT_COLOR, DEFAULT_ORGANIZATION, type Application, type Project } from "../project.ts";
import {
  findApplication,
  findApplications,
  findApplicationByName,
  selectApplications,
  lockName,
  isNameTaken,
} from "../store/applications.ts";
import { countProjects, findProjectById } from "../store/projects.ts";
import { changeProject } from "../update.ts";

type Deps = { readonly db: Db; readonly authorize: Authorize; readonly audit: Audit; readonly clock: Clock };
type Reading = Pick<Deps, "db" | "authorize">;

/** Undefined if the actor has the permission on the application, else the refusal. */
export const refusalOn = (
  actor: Actor,
  permission: "core_project_view" | "core_environment_access",
  { orgIdentifier, identifier }: Pick<Project, "orgIdentifier" | "identifier">,
): Refusal | undefined =>
  refusalOf(actor, permission, { accountId: actor.accountId, orgIdentifier, projectIdentifier: identifier });

/** Returns one application. Throws `project.no_application`, also for a malformed id. */
export const getApplication =
  (deps: Reading) =>
  async (actor: Actor, applicationId: string): Promise<Application> => {
    authorizeSomewhere(actor, "core_project_view");
    const id = fromWire(applicationId);
    const application = id && (await findApplication(deps.db, actor.accountId, id));
    const refusal = application && refusalOn(actor, "core_project_view", application);
    if (!application || refusal) throw problem("project.no_application", [], { refusal });
    return application;
  };

export type GetApplication = ReturnType<typeof getApplication>;

/**
 * Applications that other rows name, in the order of the ids; `project.no_application` for those that the actor may not
 * view.
 */
export const getApplications =
  (deps: Reading) =>
  async (actor: Actor, ids: readonly Uuid[]): Promise<readonly (Application | Problem)[]> => {
    authorizeSomewhere(actor, "core_project_view");
    const found = await findApplications(deps.db, actor.accountId, ids);
    const byId = new Map(found.map((application) => [application.id, application]));
    return ids.map((id) => {
      const application = byId.get(id);
      const refusal = application && refusalOn(actor, "core_project_view", application);
      return !application || refusal ? problem("project.no_application", [], { refusal }) : application;
    });
  };

export type GetApplications = ReturnType<typeof getApplications>;

/**
 * Returns the application of this name. Among several, the one in organization `default` precedes, then the oldest.
 * Throws `project.no_application_name`.
 */
export const getApplicationByName =
  (deps: Reading) =>
  async (actor: Actor, name: string): Promise<Application> => {
    authorizeSomewhere(actor, "core_project_view");
    const seenBy = reach(actor, "core_project_view");
    const application = await findApplicationByName(deps.db, actor.accountId, { name, reach: seenBy });
    if (!application) throw problem("project.no_application_name", [name]);
    return application;
  };

export type GetApplicationByName = ReturnType<typeof getApplicationByName>;

/** Lists the applications that the actor may see, by name. */
export const listApplications =
  (deps: Reading) =>
  async (actor: Actor, limit: number, offset: number): Promise<Page<Application>> => {
    authorizeSomewhere(actor, "core_project_view");
    const seenBy = reach(actor, "core_project_view");
    const items = await selectApplications(deps.db, actor.accountId, { reach: seenBy, window: { limit, offset } });
    return { items, limit, offset, total: () => countProjects(deps.db, actor.accountId, seenBy) };
  };

export type ListApplications = ReturnType<typeof listApplications>;

export type NewApplication = { readonly name: string; readonly description?: string | null | undefined };

const newApplication = z.strictObject({ name: displayName, description });

/**
 * Creates a project in organization `default`. Throws `project.duplicate_name`, `project.duplicate`,
 * `document.invalid`.
 */
export const createApplication =
  (deps: Reading & { create: CreateProject }) =>
  async (actor: Actor, input: NewApplication): Promise<Application> => {
    const orgIdentifier = DEFAULT_ORGANIZATION;
    deps.authorize(actor, "core_project_create", { accountId: actor.accountId, orgIdentifier });
    const given = validateValue(newApplication, input);
    const identifier = identifierOf(given.name);
    const project = { ...given, identifier, orgIdentifier, color: DEFAULT_COLOR, tags: {} };
    const { id } = await deps.create(actor, project, "once");
    return readApplication(deps.db, actor.accountId, id);
  };

export type CreateApplication = ReturnType<typeof createApplication>;

/** `My shop, 2.0` → `My_shop__2_0`: characters that identifiers do not allow become `_`. */
export function identifierOf(name: string): string {
  const identifier = name.replaceAll(/[^a-zA-Z0-9_]/g, "_");
  return /^\d/.test(identifier) || isReserved(identifier) ? `_${identifier}`.slice(0, 128) : identifier;
}

/** Undefined fields stay unchanged; a description of null removes it. */
export type ApplicationChanges = {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
};

const applicationChanges = z.strictObject({ name: displayName.optional(), description: description.optional() });

/** Changes an application. Throws `project.no_application`, `project.duplicate_name`, `document.invalid`. */
export const updateApplication =
  (deps: Deps) =>
  async (actor: Actor, applicationId: string, input: ApplicationChanges): Promise<Application> => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_project_edit");
    const changes = changesOf(input);
    return deps.db.transaction(async (tx) => {
      const project = await requireEditableApplication(tx, actor, applicationId);
      const { name } = changes;
      if (name !== undefined && name !== project.name) {
        await lockName(tx, accountId, name);
        if (await isNameTaken(tx, accountId, { name, except: project.id }))
          throw problem("project.duplicate_name", [name]);
      }
      const missing = problem("project.no_application");
      await changeProject(tx, deps, { actor, project, changes, version: undefined, missing });
      return readApplication(tx, accountId, project.id);
    });
  };

export type UpdateApplication = ReturnType<typeof updateApplication>;

/** Contains only the given keys, because an undefined key differs from a missing one. */
function changesOf(input: ApplicationChanges) {
  const { name, description: text } = validateValue(applicationChanges, input);
  return {
    ...(name === undefined ? {} : { name }),
    ...(input.description === undefined ? {} : { description: text ?? "" }),
  };
}

/** Returns the project of an application id, if the actor may edit it. Throws `project.no_application`. */
export async function requireEditableApplication(tx: Tx, actor: Actor, applicationId: string): Promise<Project> {
  const id = fromWire(applicationId);
  const project = id && (await findProjectById(tx, actor.accountId, id));
  const refusal = project && refusalOn(actor, "core_project_view", project);
  if (!project || refusal) throw problem("project.no_application", [], { refusal });
  const { orgIdentifier, identifier } = project;
  authorize(actor, "core_project_edit", { accountId: actor.accountId, orgIdentifier, projectIdentifier: identifier });
  return project;
}

async function readApplication(db: Store, accountId: Uuid, id: Uuid): Promise<Application> {
  const application = await findApplication(db, accountId, id);
  if (!application) throw problem("project.no_application");
  return application;
}
