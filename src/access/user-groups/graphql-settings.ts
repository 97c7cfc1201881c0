/**
 * Settings of user groups that clients of this API family always select and that do not exist here: role assignments
 * grant permissions, there are no notifications, and sign-in adds no groups. Each of them is null.
 */
import type { Builder, NodeRef } from "../../platform/graphql/builder.ts";

type None = Readonly<Record<string, never>>;

type Settings = {
  readonly notificationSettings: NodeRef<None>;
  readonly permissions: NodeRef<None>;
  readonly ssoSetting: ReturnType<typeof ssoSetting>;
};

export const settingTypes = (builder: Builder): Settings => ({
  notificationSettings: notificationSettings(builder),
  permissions: permissions(builder),
  ssoSetting: ssoSetting(builder),
});

const none = { resolve: (): null => null };

function notificationSettings(builder: Builder): NodeRef<None> {
  const Slack = builder.objectRef<None>("SlackNotificationSetting").implement({
    fields: (t) => ({ slackChannelName: t.string(none), slackWebhookURL: t.string(none) }),
  });
  return builder.objectRef<None>("NotificationSettings").implement({
    fields: (t) => ({
      groupEmailAddresses: t.stringList(none),
      microsoftTeamsWebhookUrl: t.string(none),
      sendMailToNewMembers: t.boolean(none),
      sendNotificationToMembers: t.boolean(none),
      slackNotificationSetting: t.field({ type: Slack, ...none }),
    }),
  });
}

function permissions(builder: Builder): NodeRef<None> {
  const ofAccount = builder.objectRef<None>("AccountPermissions").implement({
    fields: (t) => ({ accountPermissionTypes: t.stringList(none) }),
  });
  const filter = (name: string, ids: string, kinds: "filterType" | "filterTypes") =>
    builder.objectRef<None>(name).implement({
      fields: (t) => ({
        [ids]: t.stringList(none),
        [kinds]: kinds === "filterType" ? t.string(none) : t.stringList(none),
      }),
    });
  const [Applications, Services, Provisioners] = [
    filter("AppFilter", "appIds", "filterType"),
    filter("ServicePermissions", "serviceIds", "filterType"),
    filter("ProvisionerPermissions", "provisionerIds", "filterType"),
  ];
  const ofEnvironments = {
    deployments: filter("DeploymentPermissions", "envIds", "filterTypes"),
    environments: filter("EnvironmentPermissions", "envIds", "filterTypes"),
    pipelines: filter("PipelinePermissions", "envIds", "filterTypes"),
    workflows: filter("WorkflowPermissions", "envIds", "filterTypes"),
  };
  const ofApplications = builder.objectRef<None>("AppPermission").implement({
    fields: (t) => ({
      permissionType: t.string(none),
      actions: t.stringList(none),
      applications: t.field({ type: Applications, ...none }),
      services: t.field({ type: Services, ...none }),
      provisioners: t.field({ type: Provisioners, ...none }),
      deployments: t.field({ type: ofEnvironments.deployments, ...none }),
      environments: t.field({ type: ofEnvironments.environments, ...none }),
      pipelines: t.field({ type: ofEnvironments.pipelines, ...none }),
      workflows: t.field({ type: ofEnvironments.workflows, ...none }),
    }),
  });
  return builder.objectRef<None>("UserGroupPermissions").implement({
    fields: (t) => ({
      accountPermissions: t.field({ type: ofAccount, ...none }),
      appPermissions: t.field({ type: [ofApplications], ...none }),
    }),
  });
}

function ssoSetting(builder: Builder) {
  const Ldap = builder.objectRef<None>("LDAPSettings").implement({
    fields: (t) => ({ ssoProviderId: t.string(none), groupName: t.string(none), groupDN: t.string(none) }),
  });
  const Saml = builder.objectRef<None>("SAMLSettings").implement({
    fields: (t) => ({ ssoProviderId: t.string(none), groupName: t.string(none) }),
  });
  return builder.unionType("LinkedSSOSetting", { types: [Ldap, Saml], resolveType: () => Saml });
}
