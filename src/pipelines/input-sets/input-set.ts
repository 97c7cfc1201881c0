import type { Uuid } from "../../core/ids.ts";
import type { Author } from "../../identity/index.ts";
import type { Fault } from "../../core/problem.ts";

export const KINDS = ["INPUT_SET", "OVERLAY_INPUT_SET"] as const;
export type Kind = (typeof KINDS)[number];

/** Values for runtime inputs of one pipeline, or an overlay: a list of such sets, of which later ones win. */
export type InputSet = {
  readonly id: Uuid;
  readonly projectId: Uuid;
  readonly pipelineId: Uuid;
  readonly kind: Kind;
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Identifiers of the input sets that an overlay lists; an input set has none. */
  readonly references: readonly string[];
  readonly version: number;
  readonly createdBy: Uuid | null;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** `author`: who saved it last, or adopted it since; null where that is unknown. */
export type InputSetWithYaml = InputSet & { readonly yaml: string; readonly author: Author | null };

/** For the audit trail. */
export const shownSet = ({ kind, name, description, tags, references, yaml }: InputSetWithYaml) => ({
  kind,
  name,
  description,
  tags,
  references,
  yaml,
});

/** What the newest version of the pipeline has against a set: it names the one at fault, which an overlay only lists. */
export type SetFault = Fault & { readonly inputSet: string };

/** A set, and why it is outdated; without faults it is not. */
export type Checked<T extends InputSet = InputSet> = T & { readonly faults: readonly SetFault[] };
