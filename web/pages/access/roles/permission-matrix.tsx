import { Checkbox } from "../../../ui/checkbox.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { actionName, typeName } from "../shared/names.ts";
import styles from "./permission-matrix.module.css";

export type PermissionFacts = {
  readonly identifier: string;
  readonly resourceType: string;
  readonly action: string;
};

type PermissionMatrixProps = {
  /** All permissions of the scope. */
  readonly permissions: readonly PermissionFacts[];
  readonly held: ReadonlySet<string>;
  /** Without it the matrix is only shown. */
  readonly onChange?: ((held: ReadonlySet<string>) => void) | undefined;
};

/** The permissions of a role: a line for each type of resource. */
export function PermissionMatrix({ permissions, held, onChange }: PermissionMatrixProps) {
  const types = [...Map.groupBy(permissions, ({ resourceType }) => resourceType)];
  const change = (changed: readonly PermissionFacts[], isHeld: boolean): void => {
    const identifiers = new Set(changed.map(({ identifier }) => identifier));
    onChange?.(isHeld ? held.union(identifiers) : held.difference(identifiers));
  };
  const shown = onChange ? types : types.filter(([, ofType]) => ofType.some(({ identifier }) => held.has(identifier)));
  return (
    <div className={styles.matrix}>
      {shown.map(([type, ofType]) => {
        const count = ofType.filter(({ identifier }) => held.has(identifier)).length;
        return (
          <div key={type} className={styles.type} role="group" aria-label={typeName(type)}>
            {onChange ? (
              <Checkbox
                label={<strong>{typeName(type)}</strong>}
                checked={count === ofType.length}
                indeterminate={count > 0 && count < ofType.length}
                onChange={(isHeld) => change(ofType, isHeld)}
              />
            ) : (
              <strong>{typeName(type)}</strong>
            )}
            <ul className={styles.actions}>
              {ofType.map((permission) => {
                const isHeld = held.has(permission.identifier);
                if (onChange)
                  return (
                    <li key={permission.identifier} title={permission.identifier}>
                      <Checkbox
                        label={actionName(permission.action)}
                        checked={isHeld}
                        onChange={(next) => change([permission], next)}
                      />
                    </li>
                  );
                return isHeld ? (
                  <li key={permission.identifier} title={permission.identifier} className={styles.held}>
                    <Icon name="check" size={12} /> {actionName(permission.action)}
                  </li>
                ) : null;
              })}
            </ul>
          </div>
        );
      })}
    </div>
  );
}
