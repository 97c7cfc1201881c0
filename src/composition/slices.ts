/**
 * Builds each slice once, in the order of scripts/import-rules.ts. A slice calls a later one through a callback that is
 * passed here. Slices that call each other are built by one function beside this file.
 */
import { createAudit } from "../audit/index.ts";
import { reportMailEnd } from "../executions/index.ts";
import { createProjects, emptyScopeOfAll, type Projects } from "../projects/index.ts";
import { createMailSlice } from "./mail.ts";
import { createAccountAdministration } from "./account.ts";
import { createConfiguration } from "./configuration.ts";
import type { CommonDeps, PlatformDeps } from "./deps.ts";
import { createIdentityAndAccess } from "./identity-and-access.ts";
import { createRunning, type Running } from "./running.ts";
import { createTriggersSlice } from "./triggers.ts";

/** All slices by name. Those with `routes` are served by app.ts. */
export type Slices = ReturnType<typeof createSlices>;

/** Builds all slices. `onError` gets the errors of work in the background. */
export function createSlices(platform: PlatformDeps, onError: (error: unknown) => void) {
  const { db, clock, newId } = platform;
  const audit = createAudit({ clock, newId });
  const deps: CommonDeps = { ...platform, audit, onError };

  const { access, identity, users, login } = createIdentityAndAccess(deps, {
    requireScope: (actor, scope) => projects.requireScope(actor, scope),
  });
  const projects: Projects = createProjects({
    db,
    audit,
    clock,
    newId,
    authorize: access.authorize,
    emptyScope: emptyScopeOfAll(() => slicesToEmpty),
  });
  const { settings, audits, limits, scim } = createAccountAdministration(deps, { access, identity, users, projects });
  const mail = createMailSlice(deps, {
    access,
    onMailEnded: (ref, outcome, take) => reportMailEnd(executions.lockToAnswer)(ref, outcome, take),
  });
  const { environments, secrets, connectors } = createConfiguration(deps, { access, identity, projects });
  const { delegates, connectionTests, pipelines, executions, approvals, locks }: Running = createRunning(deps, {
    access,
    identity,
    settings,
    projects,
    environments,
    secrets,
    connectors,
    mail,
    isTriggerLive: (...asked) => triggers.isLive(...asked),
    countTriggers: (...asked) => triggers.countOf(...asked),
    onDeleted: (tx, accountId, ids) => triggers.forgetExecutions(tx, accountId, ids),
  });
  const triggers = createTriggersSlice(deps, {
    access,
    identity,
    settings,
    audits,
    limits,
    projects,
    pipelines,
    executions,
  });

  /**
   * The slices that delete their rows of a deleted scope. A slice comes before the slices that its rows refer to.
   * Executions delete their tasks, too.
   */
  const slicesToEmpty = [
    triggers,
    mail,
    executions,
    pipelines,
    environments,
    connectors,
    secrets,
    settings,
    identity,
    access,
  ];

  return {
    access,
    identity,
    users,
    audits,
    projects,
    settings,
    limits,
    login,
    mail,
    scim,
    secrets,
    connectors,
    connectionTests,
    environments,
    pipelines,
    executions,
    approvals,
    locks,
    triggers,
    delegates,
  };
}
