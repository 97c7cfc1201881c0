import { useState } from "react";
import type { ApprovalDetails } from "../../../api/operations.gen.ts";
import { Button } from "../../../ui/button.tsx";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { FormField } from "../../../ui/form-field.tsx";
import { Select } from "../../../ui/select.tsx";
import { TextArea } from "../../../ui/text-area.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import styles from "./execution-page.module.css";

type Input = ApprovalDetails["approverInputs"][number];

export type Decision = {
  readonly action: "APPROVE" | "REJECT";
  readonly comments: string;
  readonly approverInputs: readonly { readonly name: string; readonly value: string }[];
};

type ApprovalFormProps = {
  readonly inputs: readonly Input[];
  readonly busy: boolean;
  readonly onDecide: (decision: Decision) => Promise<boolean>;
};

/** Approves with the inputs that the step asks for, or rejects, which needs none. */
export function ApprovalForm({ inputs, busy, onDecide }: ApprovalFormProps) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [comments, setComments] = useState("");
  const [hasTried, setHasTried] = useState(false);
  const valueOf = ({ name, defaultValue }: Input): string => values[name] ?? defaultValue;
  const faults = new Map(inputs.map((input) => [input.name, faultOf(input, valueOf(input))]));
  const decide = (action: Decision["action"]): void => {
    setHasTried(action === "APPROVE");
    if (action === "APPROVE" && [...faults.values()].some((fault) => fault !== undefined)) return;
    const approverInputs =
      action === "APPROVE" ? inputs.map((input) => ({ name: input.name, value: valueOf(input) })) : [];
    void onDecide({ action, comments: comments.trim(), approverInputs });
  };
  return (
    <form
      className={styles.block}
      noValidate
      aria-label="Decision"
      onSubmit={(event) => {
        event.preventDefault();
        decide("APPROVE");
      }}
    >
      {inputs.map((input) => (
        <FormField
          key={input.name}
          label={visibleText(input.name)}
          required={input.required}
          hint={input.regex === undefined ? undefined : `Matches ${input.regex}`}
          error={hasTried ? faults.get(input.name) : undefined}
        >
          <InputControl
            input={input}
            value={valueOf(input)}
            onChange={(value) => setValues({ ...values, [input.name]: value })}
          />
        </FormField>
      ))}
      <FormField label="Comment" optional>
        <TextArea rows={2} value={comments} maxLength={1_000} onChange={(event) => setComments(event.target.value)} />
      </FormField>
      <div className={styles.buttons}>
        <Button type="submit" variant="primary" icon="check" busy={busy}>
          Approve
        </Button>
        <Button icon="close" busy={busy} onClick={() => decide("REJECT")}>
          Reject
        </Button>
      </div>
    </form>
  );
}

type InputControlProps = {
  readonly input: Input;
  readonly value: string;
  readonly onChange: (value: string) => void;
};

function InputControl({ input, value, onChange }: InputControlProps) {
  const one = input.selectOneFrom ?? input.allowedValues;
  if (one)
    return (
      <Select
        options={one.map((text) => ({ value: text, label: visibleText(text) }))}
        value={value}
        placeholder="Select a value"
        onChange={onChange}
      />
    );
  if (input.selectManyFrom) {
    const selected = new Set(value.split(",").filter((text) => text !== ""));
    return (
      <div className={styles.block}>
        {input.selectManyFrom.map((text) => (
          <Checkbox
            key={text}
            label={visibleText(text)}
            checked={selected.has(text)}
            onChange={(isChecked) =>
              onChange(
                (input.selectManyFrom ?? [])
                  .filter((other) => (other === text ? isChecked : selected.has(other)))
                  .join(","),
              )
            }
          />
        ))}
      </div>
    );
  }
  return <TextField value={value} onChange={(event) => onChange(event.target.value)} />;
}

/** The API checks patterns: theirs may differ from those of browsers. */
const faultOf = ({ name, required }: Input, value: string): string | undefined =>
  required && value.trim() === "" ? `${visibleText(name)} is required to approve.` : undefined;
