/** The kinds of work that this delegate can run: add a new one here. */
import type { Work } from "../../protocol/messages.ts";
import { connection } from "./connection.ts";
import { http } from "./http.ts";
import type { StepKind } from "./kind.ts";
import { shell } from "./shell.ts";

const table: readonly StepKind[] = [shell, connection, http];

/** For the `hello`. */
export const listKinds = (): { kind: string; versions: number[] }[] =>
  table.map(({ kind, versions }) => ({ kind, versions: [...versions] }));

/** Undefined if this delegate cannot run the work. */
export const kindOf = ({ kind, version }: Pick<Work, "kind" | "version">): StepKind | undefined =>
  table.find((one) => one.kind === kind && one.versions.includes(version));
