import { command } from "./command.ts";
import { platform, type PlatformWrapper } from "./platform.ts";
import type { KeyWrapper, KindDeps, ManagerKind } from "./kind.ts";

/** All kinds of secret managers. The database stores their names. */
export const KINDS = { platform, command } satisfies Record<string, ManagerKind>;

export type ManagerKindName = keyof typeof KINDS;

export const KIND_NAMES = Object.keys(KINDS) as readonly ManagerKindName[];

export type Wrappers = Readonly<Record<ManagerKindName, KeyWrapper>> & { readonly platform: PlatformWrapper };

export const createWrappers = (deps: KindDeps): Wrappers => ({
  platform: KINDS.platform.wrapper(deps),
  command: KINDS.command.wrapper(deps),
});
