import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, fetchData } from "../../../api/client.ts";
import { executionReadInputs, executionSubmitInputs } from "../../../api/operations.gen.ts";
import type { RunNode } from "../../../components/execution-store.ts";
import { useProjectScope } from "../../../routes/scope.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { FormField } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { Select } from "../../../ui/select.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import { askedInputs, fillTemplate, type AskedInput } from "./asked-inputs.ts";
import styles from "./execution-page.module.css";
import { useRunPermissions } from "./permissions.ts";
import { useAction } from "./use-action.ts";

/** The values that a node asks for when it begins. */
export function InputForm({ node }: { readonly node: RunNode }) {
  const scope = useProjectScope();
  const { mayRun } = useRunPermissions();
  const path = { nodeExecutionId: node.uuid };
  const inputs = useQuery(dataQuery(executionReadInputs, { path, query: scope }));
  const { act, isBusy } = useAction();
  if (!mayRun) return null;
  if (inputs.error) return <Notice tone="failed">{messageOf(inputs.error)}</Notice>;
  if (inputs.data === undefined) return <SkeletonLines />;
  const { inputTemplate } = inputs.data;
  const submit = (values: readonly string[]): Promise<boolean> =>
    act({
      run: () => fetchData(executionSubmitInputs, { path, query: scope, body: fillTemplate(inputTemplate, values) }),
      done: "The inputs were submitted.",
    });
  return (
    <Card title="Inputs">
      <Fields template={inputTemplate} busy={isBusy} onSubmit={submit} />
    </Card>
  );
}

type FieldsProps = {
  readonly template: string;
  readonly busy: boolean;
  readonly onSubmit: (values: readonly string[]) => Promise<boolean>;
};

function Fields({ template, busy, onSubmit }: FieldsProps) {
  const asked = useMemo(() => askedInputs(template), [template]);
  const [values, setValues] = useState<readonly string[]>(() => asked.map((input) => input.initial));
  const [hasTried, setHasTried] = useState(false);
  const isMissing = (index: number): boolean => (values[index] ?? "").trim() === "";
  return (
    <form
      className={styles.block}
      noValidate
      aria-label="Inputs"
      onSubmit={(event) => {
        event.preventDefault();
        setHasTried(true);
        if (!asked.some((_, index) => isMissing(index))) void onSubmit(values);
      }}
    >
      {asked.map((input, index) => (
        <FormField
          key={input.path}
          label={visibleText(input.label)}
          hint={input.pattern === undefined ? undefined : `Matches ${input.pattern}`}
          error={hasTried && isMissing(index) ? "Enter a value." : undefined}
          required
        >
          <Control
            input={input}
            value={values[index] ?? ""}
            onChange={(value) => setValues(values.map((former, nth) => (nth === index ? value : former)))}
          />
        </FormField>
      ))}
      <div className={styles.buttons}>
        <Button type="submit" variant="primary" busy={busy}>
          Submit inputs
        </Button>
      </div>
    </form>
  );
}

type ControlProps = {
  readonly input: AskedInput;
  readonly value: string;
  readonly onChange: (value: string) => void;
};

function Control({ input, value, onChange }: ControlProps) {
  if (input.choices)
    return (
      <Select
        options={input.choices.map((text) => ({ value: text, label: visibleText(text) }))}
        value={value}
        placeholder="Select a value"
        onChange={onChange}
      />
    );
  return <TextField value={value} onChange={(event) => onChange(event.target.value)} />;
}
