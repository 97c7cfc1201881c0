import { Checkbox } from "../../../ui/checkbox.tsx";
import { FormField } from "../../../ui/form-field.tsx";
import { RadioGroup } from "../../../ui/radio-group.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { typeName } from "../shared/names.ts";
import styles from "../shared/panel.module.css";

/** Each chosen type with the typed identifiers; without them all of the type. */
export type ChosenTypes = ReadonlyMap<string, string>;

type TypesFieldProps = {
  readonly types: readonly string[];
  /** Undefined: all resources of all types. */
  readonly chosen: ChosenTypes | undefined;
  /** Whether single resources can be named. */
  readonly allowsSingle: boolean;
  readonly onChange: (chosen: ChosenTypes | undefined) => void;
};

/** Their permissions are checked for all resources of a scope, so that naming single ones would give nothing. */
const WHOLE_TYPES = new Set(["ACCOUNT", "SETTING", "AUTHSETTING", "AUDIT", "USER", "DELEGATE"]);

/** Which resources a group has. */
export function TypesField({ types, chosen, allowsSingle, onChange }: TypesFieldProps) {
  const set = (type: string, identifiers: string | undefined): void => {
    const next = new Map(chosen);
    if (identifiers === undefined) next.delete(type);
    else next.set(type, identifiers);
    onChange(next);
  };
  return (
    <>
      <RadioGroup
        label="Which resources"
        value={chosen === undefined ? "all" : "chosen"}
        onChange={(value) => onChange(value === "all" ? undefined : new Map())}
        options={[
          { value: "all", label: "All resources" },
          { value: "chosen", label: "Chosen types, or single resources" },
        ]}
      />
      {chosen !== undefined && (
        <ul className={styles.rows} aria-label="Types">
          {types.map((type) => {
            const identifiers = chosen.get(type);
            return (
              <li key={type} className={styles.row}>
                <Checkbox
                  label={typeName(type)}
                  checked={identifiers !== undefined}
                  onChange={(isChosen) => set(type, isChosen ? "" : undefined)}
                />
                {identifiers !== undefined && allowsSingle && !WHOLE_TYPES.has(type) && (
                  <div className={styles.field}>
                    <FormField label={`Identifiers of ${typeName(type).toLowerCase()}`}>
                      <TextField
                        mono
                        placeholder="all, or identifiers separated by commas"
                        value={identifiers}
                        onChange={(event) => set(type, event.target.value)}
                      />
                    </FormField>
                  </div>
                )}
              </li>
            );
          })}
        </ul>
      )}
    </>
  );
}

/** The resources of the request. */
export const resourcesOf = (chosen: ChosenTypes, allowsSingle: boolean) =>
  [...chosen].map(([resourceType, text]) => {
    const identifiers = text
      .split(",")
      .map((one) => one.trim())
      .filter((one) => one !== "");
    return { resourceType, ...(allowsSingle && identifiers.length > 0 ? { identifiers } : {}) };
  });
