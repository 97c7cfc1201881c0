/**
 * The expected responses as data. A row has a cell for each caller, in the order of callers.ts:
 *
 *   no credential · wrong credential · another account · another organization · another project ·
 *   viewer · executor · project admin · organization admin · admin
 *
 * `-` 401 · `x` 403 · `?` not found · `+` other: success, or another refusal.
 * Operations of resources of any scope have two rows: one for the account, and one "in a project".
 */
type Group = readonly [cells: string, why: string, names: string];

/** The names of a group, separated by commas. */
const groups: readonly Group[] = [
  [
    "++++++++++",
    "Public: the route states the reason.",
    `health.live, health.ready, session.create, session.get, single-sign-on.finish, single-sign-on.start,
     webhook.execution-details, webhook.processing-details, webhook.receive`,
  ],
  [
    "----------",
    "For delegates with their token, or for users with a session: a key is no session.",
    `delegate session, identity.list-own, identity.unlink-own, password.change, session.delete,
     session.delete-all, session.end, session.list, single-sign-on.link`,
  ],
  [
    "--x+++++++",
    "For every user of the account: lists show what the user may see, and users may read themselves.",
    `access.check, connector.catalogue, connector.field-values, connector.list-by-name, graphql.run, graphql.run-alternative, project.list,
     project.list-of-organizations, query applications, query executions, query pipelines, query services, query trigger, query triggerByName, query workflows, user.current`,
  ],
  [
    "--xxx+xxx+",
    "Reading, in the account.",
    `audit.export, audit.list, audit.list in a project, audit.yaml, connector.get, connector.list, connector.list-filtered,
     connector.stats, connector.validate-identifier, delegate-group-tags.get, delegate-group-tags.holders, delegate-tags.get,
     delegate-token.get, delegate-token.groups, delegate-token.list, delegate.list, environment.get, environment.list, environment.list-accessible,
     identity.list, permission.list, permission.list-resource-types, query audits, query delegateList,
     query secret, query secretByName, query secretManager, query secretManagerByName, query secretManagers,
     query userGroups, query users, resource-group.get, resource-group-v2.get, resource-group.list, resource-group-v2.list, resource-group.list-filtered, resource-group-v2.list-filtered,
     ownership.list, ownership.list in a project, resource-group.list-types, role-assignment.aggregate, role-assignment.get, role-assignment.list,
     role-assignment.list-filtered, role-assignment.list-filtered-v2, role.get, role.list,
     scim-config.get, scim-group.get, scim-group.list, scim-group.search, scim-resource-type.get,
     scim-resource-type.list, scim-schema.get, scim-schema.list, scim-user.get, scim-user.list,
     scim-user.search, scim-older-config.get, scim-older-group.get, scim-older-group.list,
     scim-older-group.search, scim-older-resource-type.get, scim-older-resource-type.list,
     scim-older-schema.get, scim-older-schema.list, scim-older-user.get, scim-older-user.list,
     scim-older-user.search,
     secret-manager.get, secret-manager.list, secret.filter, secret.filter-secrets, secret.get, secret.list, secret.validate-identifier,
     service-account.aggregate, service-account.aggregates, service-account.list, service.get, service.list,
     service.list-accessible, setting.get, setting.list, smtp-config.get, user-group-v2.get, user-group-v2.list,
     user-group.get, user-group.has-member, user-group.list, user-group.list-filtered,
     user-group.list-members, user.aggregate, user.aggregates, user.get, user.list`,
  ],
  ["--xxx?xxx?", "Reading what does not exist, in the account.", `query user, query userByEmail, query userByName`],
  [
    "--xxxxxxx+",
    "Changing, in the account.",
    `api-key.aggregate, api-key.aggregates, api-key.create, api-key.delete, api-key.list, api-key.update,
     connector.create, connector.delete, connector.test, connector.update, delegate-group-tags.add,
     delegate-group-tags.clear, delegate-group-tags.replace, delegate-tags.add, delegate-tags.clear,
     delegate-tags.replace, delegate-token.create, delegate-token.create-by-name, delegate-token.delete, delegate-token.delete-by-name,
     delegate-token.revoke, delegate-token.revoke-by-name,
     environment.create, environment.delete, environment.update, environment.upsert, identity.allow-link,
     identity.unlink, password.set-one-time, mutation createSecret, mutation createUser, mutation createUserGroup,
     mutation deleteSecret, organization.create, organization.delete, organization.update,
     resource-group.create, resource-group-v2.create, resource-group.delete, resource-group-v2.delete, resource-group.update, resource-group-v2.update, role-assignment.create,
     role-assignment.delete, role-assignment.validate, role.create, role.delete, role.update,
     scim-group.create, scim-group.delete, scim-group.patch, scim-group.replace, scim-user.create,
     scim-user.delete, scim-user.patch, scim-user.replace, scim-older-group.create, scim-older-group.delete,
     scim-older-group.patch, scim-older-group.replace, scim-older-user.create, scim-older-user.delete,
     scim-older-user.patch, scim-older-user.replace,
     secret-manager.create, secret-manager.delete, secret-manager.update, secret.create, secret.create-file,
     secret.create-yaml, secret.delete, secret.update, secret.update-file, secret.update-yaml,
     service-account.create, service-account.delete, service-account.update, service.create, service.delete,
     service.update, service.upsert, setting.update, smtp-config.create, smtp-config.delete, smtp-config.test,
     smtp-config.update, token.aggregates, token.create, token.delete,
     token.rotate, token.update, user-group-v2.create, user-group-v2.delete, user-group-v2.update,
     user-group.add-member, user-group.create, user-group.delete, user-group.remove-member, user-group.update,
     user.add, user.deactivate, user.delete, user.reactivate`,
  ],
  [
    "--xxxxxxx?",
    "Changing what does not exist, in the account.",
    `mutation delegateApproveReject, mutation deleteDelegate, mutation deleteUser, mutation updateUser`,
  ],
  ["--xxx+xx++", "To look at an organization.", `organization.get`],
  ["--x+x+xx++", "Organizations, as far as one holds something in them.", `organization.list`],
  [
    "--xxxxxx++",
    "Changing, in an organization.",
    `mutation createApplication, project.create, project.update, role-assignment.create-many`,
  ],
  ["--xxxxxx+?", "Deleting, in an organization: the second caller does not find it.", `project.delete`],
  [
    "--xxx+++++",
    "Reading, in a project.",
    `connector.get in a project, connector.list in a project, connector.list-filtered in a project,
     connector.stats in a project, connector.validate-identifier in a project, environment.get in a project, environment.list in a project,
     environment.list-accessible in a project, execution.list, execution.outline, input-set.get,
     input-set.list, input-set.merge, input-set.merge-with-template, input-set.template, overlay.get,
     permission.list in a project, permission.list-resource-types in a project, pipeline.get,
     pipeline-v1.get, pipeline-v1.get-older, pipeline-v1.list, pipeline-v1.list-older, pipeline.get-version, pipeline.list, pipeline.list-versions, pipeline.summary, pipeline.validate-saved,
     pipeline.validate-yaml, project.get, resource-group.list in a project, resource-group-v2.list in a project,
     resource-group.list-filtered in a project, resource-group-v2.list-filtered in a project, resource-group.list-types in a project,
     role-assignment.aggregate in a project, role-assignment.list in a project,
     role-assignment.list-filtered in a project, role-assignment.list-filtered-v2 in a project,
     role.get in a project, role.list in a project, secret.filter in a project, secret.filter-secrets in a project, secret.get in a project,
     secret.list in a project, secret.validate-identifier in a project, service.get in a project,
     service.list in a project, service.list-accessible in a project, trigger.details, trigger.get, trigger.list,
     user-group-v2.get in a project, user-group-v2.list in a project, user-group.get in a project,
     user-group.has-member in a project, user-group.list in a project, user.aggregates in a project, user-group.list-filtered in a project,
     user-group.list-members in a project`,
  ],
  [
    "--xxx+x+++",
    "Reading, in a project, what executors may not read.",
    `service-account.aggregates in a project, service-account.list in a project, setting.get in a project,
     setting.list in a project`,
  ],
  ["--xxx?x???", "The same, where this request finds nothing.", `service-account.aggregate in a project`],
  [
    "--xxx?????",
    "Reading what does not exist, in a project.",
    `resource-group.get in a project, resource-group-v2.get in a project, role-assignment.get in a project,
     user.aggregate in a project`,
  ],
  [
    "--x??+++++",
    "Reading by id: not found from other scopes.",
    `execution.follow-logs, execution.follow-logs in a project, execution.get, execution.get in a project,
     execution.get-v2, execution.get-v2 in a project, execution.inputs, execution.inputs in a project,
     execution.inputs-v2, execution.inputs-v2 in a project, execution.logs, execution.logs in a project, log-service.download, log-service.lines,
     execution.node, execution.node in a project, query application, query applicationByName, query execution,
     query pipeline, query pipelineByName`,
  ],
  [
    "--x???????",
    "Reading by an unknown id or name.",
    `query service, query serviceByName, query userGroup, query userGroupByName, query workflow, query workflowByName`,
  ],
  [
    "--xxxx++++",
    "Running and rerunning: not for viewers.",
    `execution-v1.start, execution-v1.start-older, execution.rerun, execution.rerun-v2, execution.rerun-with-input-sets, execution.start,
     execution.start-v2, execution.start-with-input-sets`,
  ],
  ["--xxxx????", "To use, in a project; this request finds nothing.", `connector.test in a project`],
  [
    "--x??x++++",
    "Starting or stopping by id: viewing is not enough, and not found from other scopes.",
    `execution.abort, execution.abort in a project, execution.abort-older, mutation abortExecution,
     mutation interruptExecution, mutation startExecution`,
  ],
  ["--x??xx+++", "To change something by its id: elsewhere there is no such thing.", `mutation updateApplication`],
  [
    "--x??xx???",
    "The same for an unknown id.",
    `mutation addUserToUserGroup, mutation attachTag, mutation deleteApplication, mutation deleteUserGroup,
     mutation detachTag,
     mutation removeUserFromUserGroup, mutation updateUserGroup`,
  ],
  ["--x++xx+++", "Changing by id: refused before the resource is read.", `mutation updateSecret`],
  [
    "--xxxxx+++",
    "Changing, in a project.",
    `connector.create in a project, connector.update in a project, environment.create in a project,
     environment.update in a project, environment.upsert in a project, input-set.create, input-set.update,
     overlay.create, overlay.update, ownership.adopt, pipeline-v1.create, pipeline-v1.create-older, pipeline-v1.update, pipeline-v1.update-older, pipeline.create, pipeline.create-v2, pipeline.update, pipeline.update-v2,
     resource-group.create in a project, resource-group-v2.create in a project, resource-group.update in a project, resource-group-v2.update in a project,
     role-assignment.create in a project, role-assignment.create-many in a project,
     role-assignment.validate in a project, role.create in a project, role.update in a project,
     secret.create in a project, secret.create-file in a project, secret.create-yaml in a project,
     secret.update in a project, secret.update-file in a project, secret.update-yaml in a project,
     service-account.create in a project, service-account.update in a project, service.create in a project,
     service.update in a project, service.upsert in a project, setting.update in a project, trigger.create, trigger.update,
     user-group-v2.create in a project, user-group-v2.update in a project, user-group.add-member in a project,
     user-group.create in a project, user-group.remove-member in a project, user-group.update in a project`,
  ],
  [
    "--xxxxx+??",
    "Deleting, in a project: the second caller does not find it.",
    `connector.delete in a project, environment.delete in a project, input-set.delete, pipeline-v1.delete, pipeline-v1.delete-older, pipeline.delete,
     role.delete in a project, secret.delete in a project, service-account.delete in a project,
     service.delete in a project, trigger.delete, user-group-v2.delete in a project, user-group.delete in a project`,
  ],
  [
    "--xxxxx???",
    "Changing what does not exist, in a project.",
    `api-key.aggregate in a project, api-key.aggregates in a project, api-key.create in a project,
     api-key.delete in a project, api-key.list in a project, api-key.update in a project,
     resource-group.delete in a project, resource-group-v2.delete in a project, role-assignment.delete in a project, token.aggregates in a project,
     token.create in a project, token.delete in a project, token.rotate in a project,
     token.update in a project`,
  ],
];

/** The cells of each row by its name. Names are unique. */
export const expectedCells: ReadonlyMap<string, string> = (() => {
  const rows = groups.flatMap(([cells, , names]) => names.split(",").map((name) => [name.trim(), cells] as const));
  const map = new Map(rows);
  if (map.size !== rows.length) throw new Error("A name is in two groups of rows.ts.");
  return map;
})();
