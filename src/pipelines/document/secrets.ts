/** Where a pipeline asks for secrets, by reference; their values are never part of it. */
import { bindScript, readsOf, replacePaths, secretsIn, type SecretUse } from "../../engine/index.ts";
import type { Path } from "../../platform/document/position/path.ts";
import type { ValueField } from "../../steps/value-field.ts";
import { isMarker, readMarker } from "../../steps/schema/marker.ts";
import type { InProject } from "../pipeline.ts";
import { secretsGiven } from "./chain.ts";
import { chainOf, type PipelineDocument, type VariableDocument } from "./schema.ts";
import { hasSecretOutputs, secretOutputIn } from "./secret-outputs.ts";
import { SERVICE_VARIABLES, serviceVariablesOf, valueFields } from "./texts.ts";
import { ancestorsOf, type DocumentNode, nodesIn, pipelineOf, type StageNode, stagesIn } from "./visit.ts";

/** `offset`: where in the text at `path`; 0 where all of it is the reference. */
export type AskedSecret = {
  readonly reference: string;
  /** `login`: an SSH credential. */
  readonly as: SecretUse["as"] | "login";
  readonly path: Path;
  readonly offset: number;
  /** The project that the reference leads from, if it is not that of the pipeline. */
  readonly home?: InProject;
};

/** All of them, in the order of the document. Of a text that is not checked yet, those before its first fault. */
export const secretsOf = (pipeline: PipelineDocument): readonly AskedSecret[] => [
  ...valueFields(pipeline).flatMap(ofField),
  ...stagesIn(pipeline).flatMap(ofChain),
];

/** What a stage gives to the pipeline that it runs. */
function ofChain({ document, path }: StageNode): readonly AskedSecret[] {
  const chain = chainOf(document);
  if (!chain) return [];
  const home = { orgIdentifier: chain.org, projectIdentifier: chain.project };
  return secretsGiven(chain)
    .flatMap((field) => ofField({ ...field, path: [...path, "spec", ...field.path] }))
    .map((asked) => ({ ...asked, home }));
}

type Field = Pick<ValueField, "kind" | "path" | "value">;

function ofField({ kind, path, value }: Field): readonly AskedSecret[] {
  if (typeof value !== "string") return [];
  return isMarker(value) ? ofMarker({ kind, path, value }) : ofText({ kind, path, value });
}

type TextField = Field & { readonly value: string };

/** What a runtime input may come to be by what stands in the pipeline: its default, and the values that it allows. */
function ofMarker({ value, ...field }: TextField): readonly AskedSecret[] {
  const read = readMarker(value);
  if ("fault" in read) return [];
  const { default: usual, allowed = [] } = read;
  const values = new Set(usual === undefined ? allowed : [usual, ...allowed]);
  return [...values].flatMap((one) => {
    const from = Math.max(value.indexOf(one), 0);
    return ofText({ ...field, value: one }).map((asked) => ({ ...asked, offset: asked.offset + from }));
  });
}

function ofText({ kind, path, value }: TextField): readonly AskedSecret[] {
  if (kind === "secret") return [{ reference: value, as: "value", path, offset: 0 }];
  if (kind === "login") return [{ reference: value, as: "login", path, offset: 0 }];
  if (kind !== "script" && kind !== "template") return [];
  return secretsIn(value).map((use) => ({ ...use, path }));
}

/** The references of variables of the type Secret, by the paths that lead to them. */
type Known = ReadonlyMap<string, string>;

/** Those that a text can name: those of the whole pipeline, and those around it by a shorter path. */
type SecretVariables = { readonly all: Known; readonly own: Known };

type VariablePath = readonly (string | number)[];

const keyOf = (path: VariablePath): string => path.join("\0");

const knownAt = new WeakMap<DocumentNode, SecretVariables>();
const NONE: Known = new Map();

/** Those that the texts of a node can name: all of the pipeline, and those of its own stage and group by a shorter path. */
export function secretVariables(node: DocumentNode): SecretVariables {
  const around = [node, ...ancestorsOf(node)];
  const group = around.find((one) => one.kind === "group");
  const stage = around.find((one) => one.kind === "stage");
  const pipeline = pipelineOf(node);
  const owner = group ?? stage ?? pipeline;
  const found = knownAt.get(owner) ?? allKnown(owner, pipeline, { stage, group });
  knownAt.set(owner, found);
  return found;
}

function allKnown(
  owner: DocumentNode,
  pipeline: DocumentNode,
  { stage, group }: { readonly stage: DocumentNode | undefined; readonly group: DocumentNode | undefined },
): SecretVariables {
  if (owner === pipeline)
    return { all: new Map(nodesIn(pipeline).flatMap((one) => ofNode(one, one.names))), own: NONE };
  const own = [...(stage ? ofNode(stage, ["stage"]) : []), ...(group ? ofNode(group, ["stepGroup"]) : [])];
  return { all: secretVariables(pipeline).all, own: own.length === 0 ? NONE : new Map(own) };
}

type Entry = readonly [key: string, reference: string];

const ofNode = (node: DocumentNode, path: readonly string[]): readonly Entry[] => {
  if (node.kind === "parallel" || node.kind === "step") return [];
  const own = named([...path, "variables"], node.document.variables);
  const ofService = node.kind === "stage" ? serviceVariablesOf(node.document) : undefined;
  return [...own, ...named([...path, ...SERVICE_VARIABLES], ofService)];
};

const named = (path: readonly string[], list: readonly VariableDocument[] | null | undefined): readonly Entry[] =>
  (list ?? []).flatMap(({ name, type, value }) =>
    type === "Secret" ? [[keyOf([...path, name]), String(value)] as const] : [],
  );

const hasNone = ({ all, own }: SecretVariables): boolean => all.size === 0 && own.size === 0;

const referenceAt = ({ all, own }: SecretVariables, path: VariablePath): string | undefined => {
  const key = keyOf(path);
  return all.get(key) ?? own.get(key);
};

/** The beginning of the path that leads to a variable of the type Secret. */
function variableIn(path: VariablePath, known: SecretVariables): VariablePath | undefined {
  for (let length = 1; length <= path.length; length += 1) {
    const part = path.slice(0, length);
    if (referenceAt(known, part) !== undefined) return part;
  }
  return undefined;
}

/** The text with each expression that is a variable of the type Secret replaced by one that asks for its secret. */
export const withSecrets = (text: string, known: SecretVariables): string =>
  hasNone(known) || !text.includes("<+")
    ? text
    : replacePaths(text, (path) => {
        const reference = referenceAt(known, path);
        return reference === undefined ? undefined : `<+secrets.getValue("${reference}")>`;
      });

/** The secrets that steps read from variables of the type Secret. */
export const secretsRead = (
  pipeline: PipelineDocument,
): readonly { readonly reference: string; readonly node: DocumentNode }[] =>
  valueFields(pipeline).flatMap(({ kind, value, node }) => {
    if ((kind !== "script" && kind !== "template") || typeof value !== "string") return [];
    return secretsIn(withSecrets(value, secretVariables(node))).map(({ reference }) => ({ reference, node }));
  });

type Found = { readonly offset: number; readonly message: string };

/** `node`: where the text stands. `mayAsk`: an expression may ask for a secret there. */
type MisreadOptions = { readonly node: DocumentNode; readonly mayAsk: boolean; readonly isCondition?: boolean };

/** Variables and outputs of the type Secret that a text reads as if they were text. */
export function misread(
  text: string,
  known: SecretVariables,
  { node, mayAsk, isCondition = false }: MisreadOptions,
): readonly Found[] {
  if (hasNone(known) && !hasSecretOutputs(node)) return [];
  return readsOf(text, { isCondition }).flatMap(({ path, offset, isAlone }) => {
    const found = variableIn(path, known) ?? secretOutputIn(node, path);
    if (!found || (mayAsk && isAlone && path.length === found.length)) return [];
    const name = found.join(".");
    const message = mayAsk
      ? `'${name}' is a secret: it stands alone in its expression, as in <+${path.join(".")}>`
      : `'${name}' is a secret, and what stands here is stored: read it in a script or in the value of an environment variable`;
    return [{ offset, message }];
  });
}

/**
 * Where the given texts of a merged pipeline ask for a secret, by name or by a variable of the type Secret. Texts that
 * are checked; those that only the pipeline's author has written are left out.
 */
export function secretsInGiven(
  pipeline: PipelineDocument,
  isGiven: (path: Path) => boolean,
): readonly { readonly path: Path; readonly offset: number }[] {
  return valueFields(pipeline).flatMap(({ kind, path, value, node }) => {
    if ((kind !== "template" && kind !== "script") || typeof value !== "string" || isMarker(value)) return [];
    if (!isGiven(path)) return [];
    const known = secretVariables(node);
    return expressionsOf(kind, value).flatMap(({ text, from }) => {
      const reads = readsOf(text).filter((read) => variableIn(read.path, known) ?? secretOutputIn(node, read.path));
      const [first] = [...secretsIn(text), ...reads];
      return first ? [{ path, offset: from + first.offset }] : [];
    });
  });
}

type Text = { readonly text: string; readonly from: number };

function expressionsOf(kind: "template" | "script", value: string): readonly Text[] {
  if (kind === "template") return [{ text: value, from: 0 }];
  const bound = bindScript(value);
  if ("faults" in bound) return [];
  return bound.bindings.map(({ expression }) => ({ text: expression, from: value.indexOf(expression) }));
}

const ASKS = /<\+[^<>]*\bsecrets\s*\.\s*get(?:Value|AsFile)\s*\(/;

/** Texts that ask for a secret where no expression gets a value: what stands there is stored and shown as it is. */
export function misplaced(pipeline: PipelineDocument): readonly { readonly path: Path; readonly offset: number }[] {
  const places = new Set(valueFields(pipeline).map(({ path }) => JSON.stringify(path)));
  const found: { path: Path; offset: number }[] = [];
  const look = (value: unknown, path: Path): void => {
    if (typeof value === "string") {
      const offset = value.search(ASKS);
      if (offset >= 0 && !places.has(JSON.stringify(path))) found.push({ path, offset });
    } else if (typeof value === "object" && value !== null)
      for (const [key, item] of Object.entries(value)) look(item, [...path, Array.isArray(value) ? Number(key) : key]);
  };
  look(pipeline, ["pipeline"]);
  return found;
}
