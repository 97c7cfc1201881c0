import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { parse } from "yaml";
import { messageOf } from "../../../api/api-error.ts";
import { inputSetList } from "../../../api/operations.gen.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { identifierFor } from "../../../util/identifier.ts";
import { createInputSet, inputSetYaml } from "../input-sets/input-set-kind.ts";
import type { PipelineKey } from "../shared/pipeline-key.ts";

type SaveInputSetProps = {
  readonly pipeline: PipelineKey;
  /** What a run would be started with. */
  readonly runtimeInputs: string;
  readonly onClose: () => void;
};

/** Keeps the values of the form as an input set. */
export function SaveInputSet({ pipeline, runtimeInputs, onClose }: SaveInputSetProps) {
  const [name, setName] = useState("");
  const [typedIdentifier, setTypedIdentifier] = useState<string>();
  const queryClient = useQueryClient();
  const show = useToast();
  const identifier = typedIdentifier ?? identifierFor(name);
  const save = useMutation({
    mutationFn: () => {
      const { pipeline: values } = parse(runtimeInputs) as { readonly pipeline: unknown };
      return createInputSet(
        pipeline,
        "set",
        inputSetYaml(pipeline, { name: name.trim(), identifier, pipeline: values }),
      );
    },
    onSuccess: async (saved) => {
      await queryClient.invalidateQueries({ queryKey: [inputSetList.id] });
      show({ tone: "success", message: `The input set ${saved.name} was created.` });
      onClose();
    },
  });
  return (
    <Dialog
      open
      size="small"
      title="Save as an input set"
      onClose={onClose}
      onSubmit={() => save.mutate()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={save.isPending}>
            Save input set
          </Button>
        </>
      }
    >
      {save.error !== null && <Notice tone="failed">{messageOf(save.error)}</Notice>}
      <FormLayout>
        <FormField label="Name" required hint="It has the values of the form as they are now. Empty inputs stay open.">
          <TextField value={name} onChange={(event) => setName(event.target.value)} />
        </FormField>
        <FormField label="Identifier" required>
          <TextField mono value={identifier} onChange={(event) => setTypedIdentifier(event.target.value)} />
        </FormField>
      </FormLayout>
    </Dialog>
  );
}
