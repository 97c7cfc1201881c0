import { stringify } from "yaml";
import { fetchData, request, type DataOf, type RequestOptions } from "../../../api/client.ts";
import {
  inputSetCreate,
  inputSetGet,
  type inputSetList,
  inputSetUpdate,
  overlayCreate,
  overlayGet,
  overlayUpdate,
} from "../../../api/operations.gen.ts";
import type { StoredDocument } from "../../../components/document-editor/use-document.ts";
import type { PipelineKey } from "../shared/pipeline-key.ts";

/** Values of runtime inputs, or a list of such sets. */
export type InputSetKind = "set" | "overlay";

export type InputSetRow = DataOf<typeof inputSetList>["content"][number];

export const NOUNS: Readonly<Record<InputSetKind, string>> = { set: "input set", overlay: "overlay" };
export const SCHEMAS = { set: "InputSets", overlay: "OverlayInputSets" } as const;
export const CREATE = { set: inputSetCreate, overlay: overlayCreate } as const;
export const UPDATE = { set: inputSetUpdate, overlay: overlayUpdate } as const;

export const queryOf = ({ scope, identifier }: PipelineKey) => ({ ...scope, pipelineIdentifier: identifier });

export async function readInputSet(
  pipeline: PipelineKey,
  kind: InputSetKind,
  inputSetIdentifier: string,
): Promise<StoredDocument> {
  const parts = { path: { inputSetIdentifier }, query: queryOf(pipeline) };
  if (kind === "set") {
    const { answer, etag } = await request(inputSetGet, parts);
    return { text: answer.data.inputSetYaml, etag };
  }
  const { answer, etag } = await request(overlayGet, parts);
  return { text: answer.data.overlayInputSetYaml, etag };
}

/** Returns what was created. */
export const createInputSet = (pipeline: PipelineKey, kind: InputSetKind, body: string) =>
  fetchData(CREATE[kind], { query: queryOf(pipeline), body });

type Saved = { readonly inputSetIdentifier: string; readonly body: string };

export const saveInputSet = (
  pipeline: PipelineKey,
  kind: InputSetKind,
  { inputSetIdentifier, body }: Saved,
  options: RequestOptions,
): Promise<unknown> => request(UPDATE[kind], { path: { inputSetIdentifier }, query: queryOf(pipeline), body }, options);

type NewSet = { readonly name: string; readonly identifier: string; readonly pipeline: unknown };

/** The document of an input set; `pipeline` has the values in the places that the pipeline has for them. */
export const inputSetYaml = ({ scope }: PipelineKey, { name, identifier, pipeline }: NewSet): string =>
  stringify({ inputSet: { name, identifier, ...scope, pipeline } }, { lineWidth: 0 });

export const overlayYaml = (pipeline: PipelineKey, references: readonly string[]): string =>
  stringify({
    overlayInputSet: {
      name: "New overlay",
      identifier: "new_overlay",
      ...queryOf(pipeline),
      inputSetReferences: references,
    },
  });
