import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { ApiError, messageOf } from "../../../api/api-error.ts";
import { fetchData } from "../../../api/client.ts";
import {
  executionStart,
  executionStartStages,
  inputSetCreate,
  inputSetMerge,
  type PipelineInputs,
} from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { CopyAs } from "../../../components/copy-as.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { Name } from "../../../ui/name.tsx";
import { Notice } from "../../../ui/notice.tsx";
import type { PipelineKey } from "../shared/pipeline-key.ts";
import { InputField } from "./input-field.tsx";
import {
  askedInputs,
  defaultValues,
  faultOf,
  runtimeInputYaml,
  valuesOf,
  type RunInput,
  type Values,
} from "./run-inputs.ts";
import styles from "./run-page.module.css";
import { SaveInputSet } from "./save-input-set.tsx";

type RunFormProps = {
  readonly pipeline: PipelineKey;
  readonly inputs: PipelineInputs;
  readonly template: string | null;
  readonly inputSets: readonly { readonly identifier: string; readonly name: string }[];
  /** Empty if the pipeline runs as a whole only. */
  readonly stages: readonly { readonly stageIdentifier: string; readonly stageName: string }[];
};

export function RunForm({ pipeline, inputs, template, inputSets, stages }: RunFormProps) {
  const { identifier, scope, params } = pipeline;
  const navigate = useNavigate();
  const [values, setValues] = useState<Values>(() => defaultValues(inputs));
  const [sets, setSets] = useState<readonly string[]>([]);
  const [leftOut, setLeftOut] = useState<ReadonlySet<string>>(new Set());
  const [isTried, setIsTried] = useState(false);
  const [isSaving, setIsSaving] = useState(false);
  const canSave = useMay(scope)(inputSetCreate);
  const attempt = useRef<{ readonly text: string; readonly key: string }>(undefined);

  const chosen =
    leftOut.size === 0 ? undefined : stages.map((one) => one.stageIdentifier).filter((one) => !leftOut.has(one));
  const asked = askedInputs(inputs, chosen);
  const body = runtimeInputYaml(template, asked, { values, stages: chosen });
  const start = useMutation({
    mutationFn: () => {
      // A repeated click and a second try after a lost answer must not start a second run.
      const text = JSON.stringify([body, chosen]);
      if (attempt.current?.text !== text) attempt.current = { text, key: randomKey() };
      const options = { headers: { "idempotency-key": attempt.current.key } };
      const target = { path: { identifier }, query: scope };
      return chosen === undefined
        ? fetchData(executionStart, { ...target, ...(body === undefined ? {} : { body }) }, options)
        : fetchData(
            executionStartStages,
            {
              ...target,
              body: { stageIdentifiers: chosen, ...(body === undefined ? {} : { runtimeInputYaml: body }) },
            },
            options,
          );
    },
    onSuccess: ({ planExecution }) => {
      const path: string = `/projects/${params.org}/${params.project}/executions/${planExecution.uuid}`;
      void navigate({ to: path });
    },
  });
  const merge = useMutation({
    mutationFn: async (references: readonly string[]) => {
      setSets(references);
      if (references.length === 0) return defaultValues(inputs);
      const merged = await fetchData(inputSetMerge, {
        query: { ...scope, pipelineIdentifier: identifier },
        body: { inputSetReferences: references },
      });
      if (merged.pipelineYaml === null)
        throw new Error("One of the input sets is outdated: the newest version of the pipeline refuses its values.");
      return valuesOf(merged.pipelineYaml, inputs, defaultValues(inputs));
    },
    onSuccess: setValues,
  });
  const submit = (): void => {
    setIsTried(true);
    if (asked.every((input) => faultOf(input, values[input.fqn] ?? "") === undefined) && !start.isPending)
      start.mutate();
  };
  const errorOf = (input: RunInput): string | undefined =>
    (isTried ? faultOf(input, values[input.fqn] ?? "") : undefined) ?? refusalOf(start.error, input);
  return (
    <>
      <form
        className={styles.form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {inputSets.length > 0 && (
          <Card title="Input sets" description="They fill the inputs below; a later one wins.">
            <fieldset className={styles.choices} aria-label="Input sets">
              {inputSets.map((set) => (
                <Checkbox
                  key={set.identifier}
                  label={<Name>{set.name}</Name>}
                  checked={sets.includes(set.identifier)}
                  onChange={(isChosen) =>
                    merge.mutate(isChosen ? [...sets, set.identifier] : sets.filter((one) => one !== set.identifier))
                  }
                />
              ))}
            </fieldset>
            {merge.error !== null && <Notice tone="failed">{messageOf(merge.error)}</Notice>}
          </Card>
        )}
        {stages.length > 0 && (
          <Card title="Stages" description="Those that are left out count as if the pipeline did not have them.">
            <fieldset className={styles.choices} aria-label="Stages">
              {stages.map(({ stageIdentifier: one, stageName }) => (
                <Checkbox
                  key={one}
                  label={<Name>{stageName}</Name>}
                  checked={!leftOut.has(one)}
                  onChange={(isChosen) =>
                    setLeftOut(isChosen ? leftOut.difference(new Set([one])) : leftOut.union(new Set([one])))
                  }
                />
              ))}
            </fieldset>
          </Card>
        )}
        <Card title="Inputs">
          <div className={styles.body}>
            {asked.length === 0 && <p className={styles.hint}>This pipeline asks for no inputs.</p>}
            {asked.map((input) => (
              <InputField
                key={input.fqn}
                input={{ ...input, name: labelOf(input) }}
                value={values[input.fqn] ?? ""}
                onChange={(value) => setValues({ ...values, [input.fqn]: value })}
                error={errorOf(input)}
              />
            ))}
            {inputs.some(({ executionInput }) => executionInput) && (
              <p className={styles.hint}>Further inputs are asked for while it runs.</p>
            )}
          </div>
        </Card>
        {start.error !== null && (
          <Notice tone="failed" title="The pipeline was not started">
            {messageOf(start.error)}
          </Notice>
        )}
        <div className={styles.buttons}>
          <CopyAs
            requests={[
              { label: "Run with these inputs", operation: executionStart, path: { identifier }, query: scope, body },
            ]}
          />
          {canSave && body !== undefined && <Button onClick={() => setIsSaving(true)}>Save as an input set</Button>}
          <Button type="submit" variant="primary" icon="play" busy={start.isPending} disabled={chosen?.length === 0}>
            Run pipeline
          </Button>
        </div>
      </form>
      {isSaving && body !== undefined && (
        <SaveInputSet pipeline={pipeline} runtimeInputs={body} onClose={() => setIsSaving(false)} />
      )}
    </>
  );
}

/** The stage and the step tell inputs of the same name apart. */
const labelOf = ({ name, stage, step }: RunInput): string =>
  [stage?.name, step?.name, name].filter((part) => part !== undefined).join(" · ");

/** What the server says of the input. */
const refusalOf = (error: Error | null, input: RunInput): string | undefined =>
  error instanceof ApiError
    ? error.faults.find(({ path }) => path === input.fqn || path === input.templateFqn)?.message
    : undefined;

/** crypto.randomUUID exists on pages with TLS only. */
const randomKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
