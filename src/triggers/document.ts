/** The document of a trigger. Unsupported fields are rejected by name. */
import { z } from "zod";
import { parseDocument } from "../platform/document/document.ts";
import { description, displayName, entityIdentifier, scopeIdentifier, tags } from "../platform/document/fields.ts";
import { validate } from "../platform/document/validate.ts";

const unsupported = z.never().optional();
/** An empty list is allowed, because it has no effect. */
const noItems = z.array(z.never()).nullish();

export const triggerBody = z.strictObject({
  name: displayName,
  identifier: entityIdentifier,
  description,
  tags,
  enabled: z
    .boolean()
    .nullish()
    .transform((enabled) => enabled ?? true),
  orgIdentifier: scopeIdentifier,
  projectIdentifier: scopeIdentifier,
  pipelineIdentifier: entityIdentifier.nullish(),
  inputYaml: z.string().nullish(),
  source: z.strictObject({
    type: z.enum(["Webhook"]),
    pollInterval: unsupported,
    webhookId: unsupported,
    spec: z.strictObject({
      type: z.enum(["Custom"]),
      spec: z
        .strictObject({ payloadConditions: noItems, headerConditions: noItems, jexlCondition: unsupported })
        .nullish(),
    }),
  }),
  pipelineBranchName: unsupported,
  stagesToExecute: noItems,
  /** Input sets and overlays of the pipeline. Later ones override earlier ones, and `inputYaml` overrides all. */
  inputSetRefs: z.array(entityIdentifier).max(20).nullish(),
  encryptedWebhookSecretIdentifier: unsupported,
  /**
   * A service account (`x`, `org.x`, `account.x`) that its executions act for, instead of the author of the trigger.
   */
  runAs: z.string().max(136).nullish(),
});

export type TriggerBody = z.output<typeof triggerBody>;

/** Reads the stored document of a trigger. */
export const bodyOf = ({ yaml }: { readonly yaml: string }): TriggerBody =>
  validate(triggerBody, parseDocument(yaml), { root: "trigger" });

/** The inputs of its executions besides those of its input sets. */
export const inputOf = ({
  inputYaml,
}: Pick<TriggerBody, "inputYaml">): { readonly text: string; readonly format: "yaml" } | undefined =>
  inputYaml == null || inputYaml.trim() === "" ? undefined : { text: inputYaml, format: "yaml" };
