/** The document of a trigger (reference section 6.1). What Railhead does not run yet is refused by name. */
import { z } from "zod";
import { description, displayName, entityIdentifier, scopeIdentifier, tags } from "../platform/document/fields.ts";

const unsupported = z.never().optional();
/** An empty list asks for nothing, so it is allowed. */
const noConditions = z.array(z.never({ error: "conditions are not supported yet" })).nullish();

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
        .strictObject({ payloadConditions: noConditions, headerConditions: noConditions, jexlCondition: unsupported })
        .nullish(),
    }),
  }),
  pipelineBranchName: unsupported,
  stagesToExecute: z.array(z.never({ error: "choosing stages is not supported yet" })).nullish(),
  inputSetRefs: z.array(z.never({ error: "input sets are not supported yet" })).nullish(),
  encryptedWebhookSecretIdentifier: unsupported,
});

export type TriggerBody = z.output<typeof triggerBody>;
