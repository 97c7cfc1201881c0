/** The document of a trigger. Unsupported fields are rejected by name. */
import { z } from "zod";
import { parseDocument } from "../platform/document/document.ts";
import { description, displayName, entityIdentifier, scopeIdentifier, tags } from "../platform/document/fields.ts";
import { validate } from "../platform/document/validate.ts";

const unsupported = z.never().optional();
/** An empty list is allowed, because it has no effect. */
const noItems = z.array(z.never()).nullish();

export const triggerBody = z.strictObject({
  name: displayName.describe("Shown in lists"),
  identifier: entityIdentifier.describe("Unique in the pipeline"),
  description: description.describe("Any text"),
  tags: tags.describe("Labels: name and value"),
  enabled: z
    .boolean()
    .nullish()
    .transform((enabled) => enabled ?? true)
    .describe("`false`: calls of the webhook start nothing"),
  orgIdentifier: scopeIdentifier.describe("The organization of the request"),
  projectIdentifier: scopeIdentifier.describe("The project of the request"),
  pipelineIdentifier: entityIdentifier.nullish().describe("The pipeline of the request"),
  inputYaml: z
    .string()
    .nullish()
    .describe("Runtime inputs as YAML, over those of the input sets; may hold expressions"),
  source: z
    .strictObject({
      type: z.enum(["Webhook"]).describe("What starts the pipeline"),
      pollInterval: unsupported,
      webhookId: unsupported,
      spec: z
        .strictObject({
          type: z.enum(["Custom"]).describe("Any caller that has the address of the webhook"),
          spec: z
            .strictObject({
              payloadConditions: noItems.describe("Only an empty list"),
              headerConditions: noItems.describe("Only an empty list"),
              jexlCondition: unsupported,
            })
            .nullish()
            .describe("Fields of the webhook type"),
        })
        .describe("The webhook"),
    })
    .describe("What the trigger waits for"),
  pipelineBranchName: unsupported,
  stagesToExecute: noItems.describe("Only an empty list"),
  inputSetRefs: z
    .array(entityIdentifier)
    .max(20)
    .nullish()
    .describe("Input sets and overlays of the pipeline; later ones win, and `inputYaml` over all"),
  encryptedWebhookSecretIdentifier: unsupported,
  runAs: z
    .string()
    .max(136)
    .nullish()
    .describe("A service account (`x`, `org.x`, `account.x`) that its executions act for, instead of its author"),
});

/** The key and the schema of a trigger's document. */
export const triggerDocument = { root: "trigger", schema: triggerBody };

export type TriggerBody = z.output<typeof triggerBody>;

/** Reads the stored document of a trigger. */
export const bodyOf = ({ yaml }: { readonly yaml: string }): TriggerBody =>
  validate(triggerBody, parseDocument(yaml), { root: "trigger" });

/** The inputs of its executions besides those of its input sets. */
export const inputOf = ({
  inputYaml,
}: Pick<TriggerBody, "inputYaml">): { readonly text: string; readonly format: "yaml" } | undefined =>
  inputYaml == null || inputYaml.trim() === "" ? undefined : { text: inputYaml, format: "yaml" };
