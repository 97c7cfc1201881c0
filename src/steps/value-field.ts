import type { Path } from "../platform/document/position/path.ts";
import { isMarker } from "./schema/marker.ts";

/**
 * A place of a document that a person's words go into as they are written:
 * a script, a template of which expressions are filled in when the step
 * starts, or a variable, which is evaluated once, when the execution starts. A
 * secret is the reference of one, in a variable of that type; a login that of
 * an SSH credential. Host, folder, namespace, release name and text are templates that are shown: no secret goes into them.
 * An output is a template that a chained pipeline evaluates at its end, by its own names.
 * A condition is one expression without `<+ >` around it; a loop's values are templates that are evaluated when it is
 * reached.
 */
export type ValueField = {
  readonly kind:
    | "script"
    | "template"
    | "variable"
    | "secret"
    | "login"
    | "host"
    | "folder"
    | "namespace"
    | "releaseName"
    | "text"
    | "output"
    | "condition"
    | "loop";
  /** From the fields that the function was given. */
  readonly path: Path;
  readonly value: string | number | boolean | null;
  /** Of the variable that it is the value of. */
  readonly name?: string;
  /** Of a value of the type Number. */
  readonly isNumber?: true;
  /** Where it is used no file of the delegate can be read: on another host, or in a request. */
  readonly noFiles?: "otherHost" | "request";
  /** Names that its expressions may begin with, beside those of all texts. */
  readonly names?: readonly string[];
};

type Variable = {
  readonly name: string;
  readonly type: string;
  readonly value: ValueField["value"];
  /** Taken where a runtime input gets no value. */
  readonly default?: ValueField["value"] | undefined;
};

/** Values of a list of variables, and the defaults of its runtime inputs. */
export const variableFields = (
  kind: "template" | "variable",
  path: Path,
  variables: readonly Variable[] | null | undefined,
): readonly ValueField[] =>
  (variables ?? []).flatMap(({ name, type, value, default: usual }, index) => {
    const field = (key: string, text: ValueField["value"]): ValueField => ({
      ...{ kind: type === "Secret" ? "secret" : kind, path: [...path, index, key], value: text, name },
      ...(type === "Number" && { isNumber: true }),
    });
    return [field("value", value), ...(isMarker(value) && usual != null ? [field("default", usual)] : [])];
  });
