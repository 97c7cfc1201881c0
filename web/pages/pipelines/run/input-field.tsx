import { Checkbox } from "../../../ui/checkbox.tsx";
import { FormField } from "../../../ui/form-field.tsx";
import { Name } from "../../../ui/name.tsx";
import { Select } from "../../../ui/select.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import type { RunInput } from "./run-inputs.ts";
import styles from "./run-page.module.css";

type InputFieldProps = {
  readonly input: RunInput;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error: string | undefined;
};

/** One runtime input: a choice if its values are given, otherwise a text. */
export function InputField({ input, value, onChange, error }: InputFieldProps) {
  const { name, description, required, allowedValues, multiple } = input;
  if (allowedValues !== null && multiple)
    return <ManyOf input={input} allowed={allowedValues} value={value} onChange={onChange} error={error} />;
  return (
    <FormField
      label={<Name>{name}</Name>}
      hint={hintOf(input, description)}
      error={error}
      required={required}
      optional={!required && input.default === null}
    >
      {allowedValues === null ? (
        <TextField
          mono={input.type !== "String"}
          value={value}
          inputMode={input.type === "Number" ? "decimal" : undefined}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <Select
          value={value}
          placeholder="Choose a value"
          options={allowedValues.map((one) => ({ value: one, label: visibleText(one) }))}
          onChange={onChange}
        />
      )}
    </FormField>
  );
}

type ManyOfProps = InputFieldProps & { readonly allowed: readonly string[] };

function ManyOf({ input, allowed, value, onChange, error }: ManyOfProps) {
  const chosen = new Set(value === "" ? [] : value.split(",").map((one) => one.trim()));
  const toggle = (one: string, isChosen: boolean): void =>
    onChange(allowed.filter((other) => (other === one ? isChosen : chosen.has(other))).join(","));
  return (
    <fieldset className={styles.choices}>
      <legend className={styles.legend}>
        <Name>{input.name}</Name>
      </legend>
      {allowed.map((one) => (
        <Checkbox
          key={one}
          label={<Name>{one}</Name>}
          checked={chosen.has(one)}
          onChange={(isChosen) => toggle(one, isChosen)}
        />
      ))}
      {input.description !== null && <p className={styles.hint}>{input.description}</p>}
      {error !== undefined && (
        <p className={styles.fault} role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}

function hintOf(input: RunInput, description: string | null): string | undefined {
  const kind: Readonly<Record<string, string>> = {
    Secret: "The reference of a secret, such as account.db_password.",
    Service: "The identifier of a service.",
    Environment: "The identifier of an environment.",
    Connector: "The reference of a connector.",
  };
  const parts = [description, input.allowedValues === null ? kind[input.type] : undefined];
  const words = parts.filter((part) => part !== null && part !== undefined).join(" ");
  return words === "" ? undefined : visibleText(words);
}
