/** GraphQL fields of secrets and secret managers. */
import { listOf, listType, payloadOf, payloadType, window, type Builder } from "../../platform/graphql/builder.ts";
import type { TakesFile } from "../../platform/graphql/request/uploads.ts";
import type { CreateSecret } from "../create.ts";
import type { DeleteSecret } from "../delete.ts";
import type { GetSecret, RequirePermission } from "../find.ts";
import { addInputs, changesOf, newSecretOf, typeOf, type SecretInput } from "./inputs.ts";
import { addTypes, type SecretTypes } from "./types.ts";
import type { GetManager, ListManagers } from "../managers/find.ts";
import type { Secret } from "../secret.ts";
import type { UpdateSecret } from "../update.ts";

export type SecretOperations = {
  readonly create: CreateSecret;
  readonly update: UpdateSecret;
  readonly delete: DeleteSecret;
  readonly get: GetSecret;
  readonly getManager: GetManager;
  readonly listManagers: ListManagers;
  readonly requirePermission: RequirePermission;
};

/** Adds queries and mutations. No field returns the value of a secret. */
export function addSecretTypes(builder: Builder, operations: SecretOperations): void {
  const types = addTypes(builder);
  addQueries(builder, types, operations);
  addManagerQueries(builder, types, operations);
  addMutations(builder, types, operations);
}

function addQueries(builder: Builder, { Secret, SecretType }: SecretTypes, operations: SecretOperations): void {
  builder.queryFields((t) => ({
    secret: t.field({
      type: Secret,
      args: { secretId: t.arg.string({ required: true }), secretType: t.arg({ type: SecretType, required: true }) },
      extensions: { permission: "core_secret_view" },
      resolve: (_root, { secretId, secretType }, { actor }) =>
        operations.get(actor, { by: "id", id: secretId, type: secretType }),
    }),
    secretByName: t.field({
      type: Secret,
      args: { name: t.arg.string({ required: true }), secretType: t.arg({ type: SecretType }) },
      extensions: { permission: "core_secret_view" },
      resolve: (_root, { name, secretType }, { actor }) =>
        operations.get(actor, { by: "name", name, type: secretType }),
    }),
  }));
}

function addManagerQueries(builder: Builder, { SecretManager }: SecretTypes, operations: SecretOperations): void {
  const SecretManagerList = listType(builder, "SecretManagerConnection", SecretManager);
  builder.queryFields((t) => ({
    secretManagers: t.field({
      type: SecretManagerList,
      args: { limit: t.arg.int(), offset: t.arg.int() },
      extensions: { permission: "core_secret_view" },
      resolve: async (_root, args, { actor }) => {
        const { limit, offset } = window(args);
        return listOf(await operations.listManagers(actor, { limit, offset }));
      },
    }),
    secretManager: t.field({
      type: SecretManager,
      args: { secretManagerId: t.arg.string({ required: true }) },
      extensions: { permission: "core_secret_view" },
      resolve: (_root, { secretManagerId }, { actor }) =>
        operations.getManager(actor, { by: "id", id: secretManagerId }),
    }),
    secretManagerByName: t.field({
      type: SecretManager,
      args: { name: t.arg.string({ required: true }) },
      extensions: { permission: "core_secret_view" },
      resolve: (_root, { name }, { actor }) => operations.getManager(actor, { by: "name", name }),
    }),
  }));
}

/** The file of a multipart request is the content of an encrypted file. */
const takesFile: TakesFile = (args) => isFile(args["input"] as SecretInput);
const isFile = ({ secretType }: SecretInput): boolean => secretType === "ENCRYPTED_FILE";

function addMutations(builder: Builder, types: SecretTypes, operations: SecretOperations): void {
  const SecretType = types.Secret;
  const inputs = addInputs(builder, types);
  const payload = (name: string) =>
    payloadType<{ secret: Secret }>(builder, name, (t) => ({
      secret: t.field({ type: SecretType, resolve: ({ secret }) => secret }),
    }));
  const CreatePayload = payload("CreateSecretPayload");
  const UpdatePayload = payload("UpdateSecretPayload");
  const DeletePayload = payloadType(builder, "DeleteSecretPayload");
  builder.mutationFields((t) => ({
    createSecret: t.field({
      type: CreatePayload,
      args: { input: t.arg({ type: inputs.Create, required: true }) },
      extensions: { permission: "core_secret_edit", upload: takesFile },
      resolve: async (_root, { input }, { actor, file }) => {
        operations.requirePermission(actor, "core_secret_edit");
        return payloadOf(input, { secret: await operations.create(actor, newSecretOf(input, file)) });
      },
    }),
    updateSecret: t.field({
      type: UpdatePayload,
      args: { input: t.arg({ type: inputs.Update, required: true }) },
      extensions: { permission: "core_secret_edit", upload: takesFile },
      resolve: async (_root, { input }, { actor, file }) => {
        operations.requirePermission(actor, "core_secret_edit");
        const ref = { by: "id", id: input.secretId, type: typeOf(input.secretType) } as const;
        return payloadOf(input, { secret: await operations.update(actor, ref, { changes: changesOf(input, file) }) });
      },
    }),
    deleteSecret: t.field({
      type: DeletePayload,
      args: { input: t.arg({ type: inputs.Delete, required: true }) },
      extensions: { permission: "core_secret_delete" },
      resolve: async (_root, { input }, { actor }) => {
        await operations.delete(actor, { by: "id", id: input.secretId, type: input.secretType });
        return payloadOf(input, {});
      },
    }),
  }));
}
