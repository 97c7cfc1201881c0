import type { Setting } from "../../api/operations.gen.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { FormField } from "../../ui/form-field.tsx";
import { Name } from "../../ui/name.tsx";
import { Select } from "../../ui/select.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { levelsBelow, originOf, shownValue, sourceOf, wordsOf, type Level } from "./setting.ts";
import styles from "./settings-page.module.css";
import type { Draft } from "./use-settings.ts";

type SettingRowProps = {
  readonly setting: Setting;
  readonly level: Level;
  readonly mayEdit: boolean;
  /** Undefined while nothing is changed. */
  readonly draft: Draft | undefined;
  readonly refusal: string | undefined;
  readonly onEdit: (draft: Draft) => void;
  readonly onRestore: () => void;
};

export function SettingRow({ setting, level, mayEdit, draft, refusal, onEdit, onRestore }: SettingRowProps) {
  const { label, hint } = wordsOf(setting);
  const now = draft ?? { value: setting.value, allowOverrides: setting.allowOverrides };
  const below = levelsBelow(setting, level);
  const isEditable = mayEdit && setting.isSettingEditable;
  const restore = level === "account" ? "Restore the default" : "Use the inherited value";
  return (
    <li className={styles.row}>
      {isEditable ? (
        <div className={styles.field}>
          <FormField label={label} hint={hint} error={refusal}>
            <Control setting={setting} value={now.value} onChange={(value) => onEdit({ ...now, value })} />
          </FormField>
          {below.length > 0 && (
            <Checkbox
              label={`${below.length === 1 ? "Projects" : "Organizations and projects"} may have another value`}
              checked={now.allowOverrides}
              onChange={(allowOverrides) => onEdit({ ...now, allowOverrides })}
            />
          )}
        </div>
      ) : (
        <div className={styles.field}>
          <p className={styles.label}>{label}</p>
          <p>
            <Name>{shownValue(setting, setting.value)}</Name>
          </p>
          {hint !== undefined && <p className={styles.hint}>{hint}</p>}
          {!setting.isSettingEditable && <p className={styles.hint}>A scope above this one allows no other value.</p>}
        </div>
      )}
      <div className={styles.origin}>
        <Badge tone={draft === undefined ? "neutral" : "waiting"} icon={draft === undefined ? undefined : "edit"}>
          {draft === undefined ? originOf(setting, level) : "Not saved"}
        </Badge>
        {(sourceOf(setting) !== undefined || draft !== undefined) && (
          <span className={styles.hint}>Default: {shownValue(setting, setting.defaultValue)}</span>
        )}
        {isEditable && sourceOf(setting) === level && (
          <Button size="small" variant="ghost" icon="undo" onClick={onRestore} aria-label={`${restore}: ${label}`}>
            {restore}
          </Button>
        )}
      </div>
    </li>
  );
}

type ControlProps = {
  readonly setting: Setting;
  readonly value: string;
  readonly onChange: (value: string) => void;
};

function Control({ setting, value, onChange }: ControlProps) {
  const { valueType, allowedValues } = setting;
  if (allowedValues !== null)
    return (
      <Select
        value={value}
        onChange={onChange}
        options={allowedValues.map((one) => ({ value: one, label: shownValue(setting, one) }))}
      />
    );
  return (
    <TextField
      {...(valueType === "Number" && { inputMode: "numeric" })}
      mono={valueType === "String"}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
