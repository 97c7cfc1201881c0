import { toWire } from "../core/ids.ts";
import {
  listOf,
  listType,
  payloadOf,
  payloadType,
  window,
  type Builder,
  type NodeRef,
} from "../platform/graphql/builder.ts";
import type { ApproveDelegate, DeleteDelegate } from "./registry/approval.ts";
import { DELEGATE_STATUSES, unavailableReason, type DelegateStatus, type ListedDelegate } from "./delegate.ts";
import { problem } from "./problems.ts";
import type { ListDelegates, ListFilter } from "./registry/list.ts";

const TYPES = ["DOCKER", "ECS", "HELM_DELEGATE", "KUBERNETES", "SHELL_SCRIPT"] as const;

type Filter = {
  readonly accountId?: string | null | undefined;
  readonly delegateName?: string | null | undefined;
  readonly delegateStatus?: DelegateStatus | null | undefined;
  readonly delegateType?: (typeof TYPES)[number] | null | undefined;
};

type DelegateVerbs = {
  readonly list: ListDelegates;
  readonly approve: ApproveDelegate;
  readonly remove: DeleteDelegate;
};

/** `Delegate`, `delegateList`, `delegateApproveReject` and `deleteDelegate`. */
export function addDelegateTypes(builder: Builder, operations: DelegateVerbs): void {
  const Status = builder.enumType("DelegateStatus", { values: DELEGATE_STATUSES });
  const Type = builder.enumType("DelegateType", { values: TYPES });
  const Delegate = builder.objectRef<ListedDelegate>("Delegate").implement({
    fields: (t) => ({
      uuid: t.string({ resolve: (delegate) => toWire(delegate.id) }),
      accountId: t.string({ resolve: (delegate) => toWire(delegate.accountId) }),
      delegateName: t.exposeString("name"),
      delegateProfileId: t.string({ nullable: true, resolve: () => null }),
      delegateType: t.field({ type: Type, resolve: () => "SHELL_SCRIPT" as const }),
      description: t.string({ nullable: true, resolve: () => null }),
      hostName: t.exposeString("host"),
      ip: t.string({ nullable: true, resolve: () => null }),
      lastHeartBeat: t.field({ type: "Long", resolve: (delegate) => delegate.seenAt }),
      // The spelling that clients use.
      polllingModeEnabled: t.boolean({ resolve: () => false }),
      status: t.field({ type: Status, resolve: ({ status }) => status }),
      tags: t.stringList({ resolve: (delegate) => [...delegate.tags] }),
      connected: t.exposeBoolean("connected"),
      unavailableReason: t.string({ nullable: true, resolve: unavailableReason }),
      version: t.exposeString("version"),
    }),
  });
  const DelegateList = listType(builder, "DelegateConnection", Delegate);
  const DelegateFilter = builder.inputType("DelegateFilter", {
    fields: (t) => ({
      accountId: t.string(),
      delegateName: t.string(),
      delegateStatus: t.field({ type: Status }),
      delegateType: t.field({ type: Type }),
    }),
  });
  builder.queryField("delegateList", (t) =>
    t.field({
      type: DelegateList,
      args: {
        limit: t.arg.int(),
        offset: t.arg.int(),
        filters: t.arg({ type: [DelegateFilter], required: { list: false, items: false } }),
      },
      extensions: { permission: "core_delegate_view" },
      resolve: async (_root, { filters, ...args }, { actor }) => {
        const { limit, offset } = window(args);
        const asked = combined(
          (filters ?? []).flatMap((one) => one ?? []),
          toWire(actor.accountId),
        );
        return listOf(await operations.list(actor, asked, { limit, offset }));
      },
    }),
  );
  addMutations(builder, Delegate, operations);
}

function addMutations(builder: Builder, Delegate: NodeRef<ListedDelegate>, operations: DelegateVerbs): void {
  const Approval = builder.enumType("DelegateApproval", { values: ["ACTIVATE", "REJECT"] as const });
  const ApproveInput = builder.inputType("DelegateApproveRejectInput", {
    fields: (t) => ({
      accountId: t.string({ required: true }),
      delegateId: t.string({ required: true }),
      delegateApproval: t.field({ type: Approval, required: true }),
      clientMutationId: t.string(),
    }),
  });
  const DeleteInput = builder.inputType("DeleteDelegateInput", {
    fields: (t) => ({
      accountId: t.string({ required: true }),
      delegateId: t.string({ required: true }),
      clientMutationId: t.string(),
    }),
  });
  const ApprovePayload = payloadType<{ delegate: ListedDelegate }>(builder, "DelegateApproveRejectPayload", (t) => ({
    delegate: t.field({ type: Delegate, resolve: ({ delegate }) => delegate }),
  }));
  const DeletePayload = payloadType(builder, "DeleteDelegatePayload");
  builder.mutationFields((t) => ({
    delegateApproveReject: t.field({
      type: ApprovePayload,
      args: { input: t.arg({ type: ApproveInput, required: true }) },
      extensions: { permission: "core_delegate_edit" },
      resolve: async (_root, { input }, { actor }) => {
        return payloadOf(input, { delegate: await operations.approve(actor, input, input.delegateApproval) });
      },
    }),
    deleteDelegate: t.field({
      type: DeletePayload,
      args: { input: t.arg({ type: DeleteInput, required: true }) },
      extensions: { permission: "core_delegate_delete" },
      resolve: async (_root, { input }, { actor }) => {
        await operations.remove(actor, input);
        return payloadOf(input, {});
      },
    }),
  }));
}

/** Filters are combined with AND; contradicting filters match nothing. */
function combined(filters: readonly Filter[], accountId: string): ListFilter {
  const names = new Set(filters.flatMap(({ delegateName }) => delegateName ?? []));
  const statuses = new Set(filters.flatMap(({ delegateStatus }) => delegateStatus ?? []));
  if (filters.some((one) => (one.accountId ?? accountId) !== accountId)) throw problem("delegate.other_account");
  const never =
    names.size > 1 ||
    statuses.size > 1 ||
    filters.some(({ delegateType }) => (delegateType ?? "SHELL_SCRIPT") !== "SHELL_SCRIPT");
  // No delegate has an empty name.
  const name = never ? "" : [...names][0];
  return {
    ...(name === undefined ? {} : { name }),
    ...(statuses.size === 0 ? {} : { statuses: [...statuses] }),
  };
}
