import type { Json } from "../../engine/index.ts";
import { type ValueField, variableFields } from "../value-field.ts";
import type { ShellScriptSpec } from "./schema.ts";

/** The script, the values of environment variables, and the target. */
export function valueFields(spec: ShellScriptSpec): readonly ValueField[] {
  const fields = [
    { kind: "script" as const, path: ["source", "spec", "script"], value: spec.source.spec.script },
    ...variableFields("template", ["environmentVariables"], spec.environmentVariables),
    ...targetFields(spec.executionTarget),
  ];
  return spec.onDelegate === false ? fields.map((field) => ({ ...field, noFiles: "otherHost" as const })) : fields;
}

function targetFields(target: ShellScriptSpec["executionTarget"]): readonly ValueField[] {
  const { host, connectorRef, workingDirectory } = target ?? {};
  const fields: readonly ValueField[] = [
    { kind: "host", path: ["executionTarget", "host"], value: host ?? null },
    { kind: "login", path: ["executionTarget", "connectorRef"], value: connectorRef ?? null },
    { kind: "folder", path: ["executionTarget", "workingDirectory"], value: workingDirectory ?? null },
  ];
  return fields.filter(({ value }) => value !== null);
}

/** The spec without what says which secrets and credentials are used; environment variables by their name. */
export function shown(spec: ShellScriptSpec): { readonly [key: string]: Json } {
  const { environmentVariables, executionTarget, ...rest } = spec;
  const { connectorRef: _, ...target } = executionTarget ?? {};
  const environment = (environmentVariables ?? [])
    .filter(({ type }) => type !== "Secret")
    .map(({ name, value }) => [name, value ?? ""] as const);
  const all = {
    ...rest,
    environmentVariables: Object.fromEntries(environment),
    ...(executionTarget && { executionTarget: target }),
  };
  // Fields that are undefined are left out.
  return JSON.parse(JSON.stringify(all)) as { readonly [key: string]: Json };
}
