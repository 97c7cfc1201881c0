import type { ReactNode } from "react";
import type { AnyOperation } from "../../../api/operation.ts";
import type { connectorUsedBy } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import type { IconName } from "../../../ui/icon.tsx";
import type { Column } from "../../../ui/table.tsx";
import type { ListSearch } from "../../../util/list-search.ts";
import type { DeploymentSide } from "./deployments.tsx";

/** A resource that is kept as YAML: how its pages list, show and change it. */
export type ResourceKind<Row> = {
  /** The top key of its document, and its name in sentences: connector */
  readonly noun: string;
  readonly title: string;
  readonly icon: IconName;
  /** What it is for, in one sentence; shown while there are none. */
  readonly purpose: string;
  readonly operations: {
    readonly list: AnyOperation;
    readonly get: AnyOperation;
    readonly create: AnyOperation;
    readonly update: AnyOperation;
    /** Whether the identifier of the update is part of its path. */
    readonly updateHasPath?: boolean;
    readonly remove: AnyOperation;
    readonly usedBy: typeof connectorUsedBy;
    /** Whether what is used is deleted only by force. */
    readonly removeIsForced?: boolean;
  };
  /** The query of the list's page. */
  readonly listQuery: (scope: Scope, search: ListSearch) => Readonly<Record<string, string | number>>;
  readonly columns: readonly Column<Row>[];
  /** Which deployments belong to it, in projects. */
  readonly deployments?: DeploymentSide;
  readonly nameOf: (row: Row) => string;
  readonly identifierOf: (row: Row) => string;
  /** The fields that a user may write, from the `data` of `get`. */
  readonly documentOf: (data: unknown) => object;
  /** The document of a new one. */
  readonly template: (scope: Scope) => object;
  /** Further actions of a row, as items of its menu. */
  readonly rowActions?: (row: Row, scope: Scope) => ReactNode;
};

export const PAGE_SIZE = 50;

/** Fields of every document without those that are empty. */
export function withoutEmpty(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) =>
        value !== null &&
        value !== undefined &&
        value !== "" &&
        !(typeof value === "object" && Object.keys(value).length === 0),
    ),
  );
}
