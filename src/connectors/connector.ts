import type { Uuid } from "../core/ids.ts";
import type { RegistrySpec } from "./types/container-registry.ts";

/** How to reach something outside. Lives in an account, an organization or a project. */
export type Connector = {
  readonly id: Uuid;
  readonly orgIdentifier: string | null;
  readonly projectIdentifier: string | null;
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly type: "ContainerRegistry";
  readonly spec: RegistrySpec;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type NewConnector = Omit<Connector, "id" | "version" | "createdAt" | "updatedAt">;
