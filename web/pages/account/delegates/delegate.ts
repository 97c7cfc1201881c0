import { request, type AnswerOf, type RequestOf } from "../../../api/client.ts";
import type { AnyOperation } from "../../../api/operation.ts";
import type { DelegateResource } from "../../../api/operations.gen.ts";
import type { Tone } from "../../../ui/tone.ts";
import type { DelegateState, DelegatesSearch } from "./delegates-search.ts";

export type Delegate = DelegateResource;

type ResourceOf<Op> = AnswerOf<Op> extends { readonly resource: infer Resource } ? Resource : never;

/** The content of an answer of the operations of delegates, which have an envelope of their own. */
export async function fetchResource<Op extends AnyOperation>(
  operation: Op,
  parts: RequestOf<Op>,
): Promise<ResourceOf<Op>> {
  const { answer } = await request(operation, parts);
  return (answer as { readonly resource: ResourceOf<Op> }).resource;
}

export function stateOf(delegate: Delegate): DelegateState {
  if (delegate.status === "WAITING_FOR_APPROVAL") return "waiting";
  if (!delegate.connected) return "lost";
  if (delegate.unavailableReason !== null) return "unavailable";
  return delegate.slotsInUse >= delegate.slots ? "busy" : "connected";
}

export const STATE_LOOKS: Readonly<Record<DelegateState, { readonly tone: Tone; readonly label: string }>> = {
  connected: { tone: "success", label: "Connected" },
  busy: { tone: "running", label: "All slots in use" },
  unavailable: { tone: "paused", label: "Takes no tasks" },
  lost: { tone: "failed", label: "Disconnected" },
  waiting: { tone: "waiting", label: "Waiting for approval" },
};

/** Those that a person has to decide about come first. */
export function visibleDelegates(delegates: readonly Delegate[], search: DelegatesSearch): readonly Delegate[] {
  const text = search.q?.toLocaleLowerCase() ?? "";
  const rank = (delegate: Delegate): number => (delegate.status === "WAITING_FOR_APPROVAL" ? 0 : 1);
  return delegates
    .filter((delegate) => search.status === undefined || search.status.includes(stateOf(delegate)))
    .filter(({ tags }) => search.tag === undefined || tags.includes(search.tag))
    .filter(
      ({ delegateName, hostName, tags }) =>
        text === "" || [delegateName, hostName, ...tags].join("\n").toLocaleLowerCase().includes(text),
    )
    .toSorted((a, b) => rank(a) - rank(b) || a.delegateName.localeCompare(b.delegateName, "en", { numeric: true }));
}
