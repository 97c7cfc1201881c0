/** Hosts of steps that a caller would choose, as far as the text of a pipeline shows it. Each run is looked at when it starts. */
import { ExpressionError, referencesOf } from "../../engine/index.ts";
import { isMarker, readMarker } from "../../steps/schema/marker.ts";
import type { PipelineDocument, VariableDocument } from "./schema.ts";
import { type DocumentNode, pipelineOf, stageOf } from "./visit.ts";

type Found = { readonly offset: number; readonly message: string };
type ReadPath = readonly (string | number)[];

const CHOSEN = "and the author of a pipeline chooses the host that gets the login: name the hosts in the pipeline";
const BY_TRIGGER = `Callers of a webhook say what the trigger holds, ${CHOSEN}`;
const BY_PROJECT = `Persons who may edit the project change its name, ${CHOSEN}, or read <+project.identifier>`;
const BY_STEP = `A step says what it puts out, ${CHOSEN}`;
const BY_INPUT = `The person who runs the pipeline gives this variable, ${CHOSEN}, or add .allowedValues(…) to the variable`;

/** `node` is the step. Also of what its host reads by way of variables; offsets are those in the host. */
export function callersFaults(node: DocumentNode, host: string): readonly Found[] {
  const known = knownOf(pipelineOf(node).document);
  return referencesOf(host).flatMap(({ path: read, offset }) => {
    const message = ofPath(read);
    return message === undefined ? [] : [{ offset, message }];
  });

  function ofPath(read: ReadPath): string | undefined {
    if (read[0] === "trigger") return BY_TRIGGER;
    if (read[0] === "project" && read[1] === "name") return BY_PROJECT;
    const variable = variableAt(node, read);
    if (variable) return ofVariable(variable);
    return read.includes("outputVariables") || read[0] === "exportedVariables" ? BY_STEP : undefined;
  }

  function ofVariable(variable: VariableDocument): string | undefined {
    if (!known.has(variable)) {
      known.set(variable, undefined);
      known.set(variable, ofValue(variable));
    }
    return known.get(variable);
  }

  function ofValue({ value, default: usual, required }: VariableDocument): string | undefined {
    if (typeof value !== "string" || !value.includes("<+")) return undefined;
    if (!isMarker(value)) return ofText(value);
    const read = readMarker(value);
    if ("fault" in read || (read.allowed && !read.isMany)) return undefined;
    return read.default === undefined && (usual ?? null) === null && required !== false ? BY_INPUT : undefined;
  }

  function ofText(text: string): string | undefined {
    try {
      return referencesOf(text)
        .map(({ path: read }) => ofPath(read))
        .find((message) => message !== undefined);
    } catch (error) {
      // Said of the variable itself.
      if (error instanceof ExpressionError) return undefined;
      throw error;
    }
  }
}

/** What was found of each variable: it is read once, however many hosts read it, in whatever circles they refer to one another. */
const found = new WeakMap<PipelineDocument, Map<VariableDocument, string | undefined>>();

function knownOf(pipeline: PipelineDocument): Map<VariableDocument, string | undefined> {
  const known = found.get(pipeline) ?? new Map<VariableDocument, string | undefined>();
  found.set(pipeline, known);
  return known;
}

/** The variable that a path reads, of the pipeline or of the stage that the host stands in. */
function variableAt(node: DocumentNode, [root, key, name]: ReadPath): VariableDocument | undefined {
  if (key !== "variables") return undefined;
  const own = stageOf(node)?.document.variables;
  const list = root === "pipeline" ? pipelineOf(node).document.variables : root === "stage" ? own : undefined;
  return list?.find((one) => one.name === name);
}
