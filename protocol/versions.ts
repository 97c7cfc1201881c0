/**
 * Versions of the protocol, and the kinds of work that a delegate can run.
 *
 * The server names its range of versions in a response header of the WebSocket handshake. A delegate says `hello` in
 * the form of the highest version that both speak, with its own range, and the `welcome` names the version of the
 * session. A server without the header speaks FIRST_VERSION.
 *
 * | version | what it added |
 * |---|---|
 * | 6 | the first one that this program speaks |
 * | 7 | `hello.protocol` is a range; `hello.kinds`; `welcome.protocol`; `run.work.version`; the outcome `completed` |
 */
import type { ToDelegate, ToServer } from "./messages.ts";

/** The versions of the protocol that a program speaks. */
export type ProtocolRange = { readonly min: number; readonly max: number };

/** The oldest version that this program speaks. */
const FIRST_VERSION = 6;
/** The first version with ranges and kinds of work. */
const WITH_KINDS = 7;
/** The versions that this program speaks, as a server and as a delegate. */
export const PROTOCOL: ProtocolRange = { min: FIRST_VERSION, max: 7 };
/** The response header of the handshake, as in `railhead-protocol: 6-7`. */
export const PROTOCOL_HEADER = "railhead-protocol";

/** What a delegate needs for a task: kind and version of its work, as in `http/1`. */
export type Capability = string;

export const capabilityOf = ({ kind, version = 1 }: { kind: string; version?: number | undefined }): Capability =>
  `${kind}/${version}`;

export function parseCapability(capability: Capability): { readonly kind: string; readonly version: number } {
  const [kind = "", version] = capability.split("/");
  return { kind, version: Number(version) };
}

/** What each delegate of version 6 can run; it does not say so. */
const CAPABILITIES_OF_6: readonly Capability[] = ["shell/1", "connection/1"];

type Hello = Extract<ToServer, { kind: "hello" }>;

export const formatRange = ({ min, max }: ProtocolRange): string => `${min}-${max}`;

/** The range of a server by its header. Without a readable one it speaks FIRST_VERSION. */
export function parseRange(header: string | string[] | undefined): ProtocolRange {
  const [, min, max] = /^(\d{1,9})-(\d{1,9})$/.exec(String(header)) ?? [];
  return { min: Number(min ?? FIRST_VERSION), max: Number(max ?? FIRST_VERSION) };
}

/** The range of a `hello` of any version. */
export const rangeOf = ({ protocol }: Pick<Hello, "protocol">): ProtocolRange =>
  typeof protocol === "number" ? { min: protocol, max: protocol } : protocol;

/** The highest version in both ranges; undefined if they do not overlap. */
export function chooseVersion(one: ProtocolRange, other: ProtocolRange): number | undefined {
  const version = Math.min(one.max, other.max);
  return version >= Math.max(one.min, other.min) ? version : undefined;
}

/** What the delegate of a `hello` can run. */
export const capabilitiesOf = ({ kinds }: Pick<Hello, "kinds">): readonly Capability[] =>
  kinds?.flatMap(({ kind, versions }) => versions.map((version) => capabilityOf({ kind, version }))) ??
  CAPABILITIES_OF_6;

/** The message as a delegate of this version reads it. */
export function encodeForDelegate(message: ToDelegate, protocol: number): object {
  if (protocol >= WITH_KINDS) return message;
  if (message.kind === "welcome") return { ...message, protocol: undefined };
  if (message.kind === "run") return { ...message, work: { ...message.work, version: undefined } };
  return message;
}

/** The message as a server of this version reads it. */
export function encodeForServer(message: ToServer, protocol: number): object {
  if (protocol >= WITH_KINDS) return message;
  if (message.kind === "hello") return { ...message, protocol, kinds: undefined };
  if (message.kind === "finished" && message.outcome.kind === "completed") {
    const text = `The server speaks version ${protocol} of the protocol and cannot read the result of the step.`;
    return { ...message, outcome: { kind: "refused", message: text } };
  }
  return message;
}
