import { toWire } from "../core/ids.ts";
import { listOf, listType, window, type Builder } from "../platform/graphql/builder.ts";
import { problem } from "./problems.ts";
import type { ListDelegates, ListedDelegate, ListFilter } from "./list.ts";

const STATUSES = ["ENABLED", "WAITING_FOR_APPROVAL", "DELETED"] as const;
const TYPES = ["DOCKER", "ECS", "HELM_DELEGATE", "KUBERNETES", "SHELL_SCRIPT"] as const;

type Filter = {
  readonly accountId?: string | null | undefined;
  readonly delegateName?: string | null | undefined;
  readonly delegateStatus?: (typeof STATUSES)[number] | null | undefined;
  readonly delegateType?: (typeof TYPES)[number] | null | undefined;
};

/** `Delegate` and `delegateList` (reference section 1.11). */
export function addDelegateTypes(builder: Builder, verbs: { readonly list: ListDelegates }): void {
  const Status = builder.enumType("DelegateStatus", { values: STATUSES });
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
      // Spelled as clients spell it.
      polllingModeEnabled: t.boolean({ resolve: () => false }),
      status: t.field({ type: Status, resolve: (delegate) => (delegate.revoked ? "DELETED" : "ENABLED") as "DELETED" }),
      tags: t.stringList({ resolve: (delegate) => [...delegate.tags] }),
      connected: t.exposeBoolean("connected"),
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
        return listOf(await verbs.list(actor, asked, limit, offset));
      },
    }),
  );
}

/** Filters are ANDed; two that cannot both hold match nothing. */
function combined(filters: readonly Filter[], accountId: string): ListFilter {
  const names = new Set(filters.flatMap(({ delegateName }) => delegateName ?? []));
  const statuses = new Set(filters.flatMap(({ delegateStatus }) => delegateStatus ?? []));
  if (filters.some((one) => (one.accountId ?? accountId) !== accountId)) throw problem("delegate.other_account");
  const never =
    names.size > 1 ||
    statuses.size > 1 ||
    statuses.has("WAITING_FOR_APPROVAL") ||
    filters.some(({ delegateType }) => (delegateType ?? "SHELL_SCRIPT") !== "SHELL_SCRIPT");
  // No delegate has an empty name.
  const name = never ? "" : [...names][0];
  const [status] = statuses;
  return {
    ...(name === undefined ? {} : { name }),
    ...(status === undefined ? {} : { revoked: status === "DELETED" }),
  };
}
