/** GraphQL types of secrets and their managers. No type has a field for a value. */
import { toWire, type Uuid } from "../../core/ids.ts";
import type { Builder, InterfaceNodeRef, NodeRef } from "../../platform/graphql/builder.ts";
import { addSshTypes } from "./ssh.ts";
import type { SecretManager } from "../managers/manager.ts";
import type { RequestedType, Secret } from "../secret.ts";
import type { AppEnvScope, UsageScope } from "../scope/usage-scope.ts";

export type SecretTypes = {
  readonly Secret: InterfaceNodeRef<Secret>;
  readonly SecretManager: NodeRef<SecretManager>;
  readonly SecretType: ReturnType<typeof typeEnum>;
  readonly filters: FilterEnums;
};

export type FilterEnums = ReturnType<typeof filterEnums>;

const TYPE_NAMES = {
  ENCRYPTED_TEXT: "EncryptedText",
  ENCRYPTED_FILE: "EncryptedFile",
  SSH_CREDENTIAL: "SSHCredential",
} as const;

const TYPES: readonly RequestedType[] = ["ENCRYPTED_TEXT", "ENCRYPTED_FILE", "SSH_CREDENTIAL", "WINRM_CREDENTIAL"];

export function addTypes(builder: Builder): SecretTypes {
  const filters = filterEnums(builder);
  const UsageScopeType = usageScopeType(builder, filters);
  const SecretType = typeEnum(builder);
  const SecretRef = builder.interfaceRef<Secret>("Secret").implement({
    resolveType: ({ type }) => TYPE_NAMES[type],
    fields: (t) => ({
      id: t.string({ resolve: ({ id }) => toWire(id) }),
      name: t.exposeString("name"),
      secretType: t.field({ type: SecretType, resolve: ({ type }) => type }),
      usageScope: t.field({
        type: UsageScopeType,
        nullable: true,
        description: "Null when the secret inherits the scope of its secret manager, and when it has none.",
        resolve: ({ usageScope }) => usageScope,
      }),
    }),
  });
  for (const name of [TYPE_NAMES.ENCRYPTED_TEXT, TYPE_NAMES.ENCRYPTED_FILE])
    builder.objectRef<Secret>(name).implement({
      interfaces: [SecretRef],
      fields: (t) => ({
        secretManagerId: t.string({ resolve: ({ managerId }) => toWire(managerId) }),
        inheritScopesFromSM: t.boolean({ resolve: ({ inheritsScope }) => inheritsScope }),
        scopedToAccount: t.boolean({ resolve: ({ scopedToAccount }) => scopedToAccount }),
      }),
    });
  addSshTypes(builder, SecretRef);
  return { Secret: SecretRef, SecretManager: managerType(builder, UsageScopeType), SecretType, filters };
}

const typeEnum = (builder: Builder) => builder.enumType("SecretType", { values: TYPES });

const filterEnums = (builder: Builder) => ({
  Application: builder.enumType("ApplicationFilterType", { values: ["ALL"] as const }),
  Environment: builder.enumType("EnvironmentFilterType", {
    values: ["PRODUCTION_ENVIRONMENTS", "NON_PRODUCTION_ENVIRONMENTS"] as const,
  }),
});

function managerType(builder: Builder, UsageScopeType: NodeRef<UsageScope>): NodeRef<SecretManager> {
  return builder.objectRef<SecretManager>("SecretManager").implement({
    fields: (t) => ({
      id: t.string({ resolve: ({ id }) => toWire(id) }),
      name: t.exposeString("name"),
      usageScope: t.field({ type: UsageScopeType, nullable: true, resolve: ({ usageScope }) => usageScope }),
    }),
  });
}

function usageScopeType(builder: Builder, filters: FilterEnums): NodeRef<UsageScope> {
  const wire = (id: Uuid | null): string | null => (id === null ? null : toWire(id));
  const Application = builder.objectRef<AppEnvScope>("AppScopeFilter").implement({
    fields: (t) => ({
      filterType: t.field({
        type: filters.Application,
        nullable: true,
        resolve: ({ applicationId }) => (applicationId === null ? ("ALL" as const) : null),
      }),
      appId: t.string({ nullable: true, resolve: ({ applicationId }) => wire(applicationId) }),
    }),
  });
  const Environment = builder.objectRef<AppEnvScope>("EnvScopeFilter").implement({
    fields: (t) => ({
      filterType: t.field({ type: filters.Environment, nullable: true, resolve: ({ environments }) => environments }),
      envId: t.string({ nullable: true, resolve: ({ environmentId }) => wire(environmentId) }),
    }),
  });
  const Entry = builder.objectRef<AppEnvScope>("AppEnvScope").implement({
    fields: (t) => ({
      application: t.field({ type: Application, resolve: (entry) => entry }),
      environment: t.field({ type: Environment, resolve: (entry) => entry }),
    }),
  });
  return builder.objectRef<UsageScope>("UsageScope").implement({
    fields: (t) => ({ appEnvScopes: t.field({ type: [Entry], resolve: (scope) => [...scope] }) }),
  });
}
