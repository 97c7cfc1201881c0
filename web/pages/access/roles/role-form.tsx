import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { fetchData, type DataOf } from "../../../api/client.ts";
import { roleCreate, roleGet, roleList, roleUpdate } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { identifierFor } from "../../../util/identifier.ts";
import { levelOf, type ScopeLevel } from "../shared/levels.ts";
import styles from "../shared/panel.module.css";
import { PermissionMatrix, type PermissionFacts } from "./permission-matrix.tsx";

type Role = DataOf<typeof roleGet>["role"];
type RoleFormProps = {
  readonly scope: Scope;
  readonly former: Role | undefined;
  readonly permissions: readonly PermissionFacts[];
  readonly onSaved?: ((identifier: string) => void) | undefined;
};

const LEVELS: readonly ScopeLevel[] = ["account", "organization", "project"];

/** Creates a role, or changes the former one. */
export function RoleForm({ scope, former, permissions, onSaved }: RoleFormProps) {
  const own = levelOf(scope);
  const [name, setName] = useState(former?.name ?? "");
  const [typed, setTyped] = useState<string>();
  const [description, setDescription] = useState(former?.description ?? "");
  const [levels, setLevels] = useState<readonly ScopeLevel[]>(former?.allowedScopeLevels ?? [own]);
  const [held, setHeld] = useState<ReadonlySet<string>>(new Set(former?.permissions));
  const queryClient = useQueryClient();
  const show = useToast();
  const identifier = former?.identifier ?? typed ?? identifierFor(name);
  const possible = LEVELS.slice(LEVELS.indexOf(own));
  const save = useMutation({
    mutationFn: () => {
      const body = {
        ...{ identifier, name: name.trim(), description, tags: former?.tags ?? {} },
        ...{ permissions: [...held], allowedScopeLevels: levels },
      };
      return former
        ? fetchData(roleUpdate, { path: { identifier }, query: scope, body })
        : fetchData(roleCreate, { query: scope, body });
    },
    onSuccess: async () => {
      await Promise.all([roleList, roleGet].map(({ id }) => queryClient.invalidateQueries({ queryKey: [id] })));
      show({ tone: "success", message: `Role ${name.trim()} was ${former ? "saved" : "created"}.` });
      onSaved?.(identifier);
    },
  });
  return (
    <form
      className={styles.panel}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!save.isPending) save.mutate();
      }}
    >
      {save.error !== null && <Notice tone="failed">{messageOf(save.error)}</Notice>}
      <Card>
        <FormLayout>
          <FormField label="Name" required>
            <TextField value={name} onChange={(event) => setName(event.target.value)} />
          </FormField>
          {!former && (
            <FormField label="Identifier" required hint="Used in scripts. It cannot be changed.">
              <TextField mono value={identifier} onChange={(event) => setTyped(event.target.value)} />
            </FormField>
          )}
          <FormField label="Description" optional>
            <TextField value={description} onChange={(event) => setDescription(event.target.value)} />
          </FormField>
          {possible.length > 1 && (
            <fieldset className={styles.choices}>
              <legend>May be assigned in</legend>
              {possible.map((level) => (
                <Checkbox
                  key={level}
                  label={level === own ? `this ${level}` : `${level}s`}
                  checked={levels.includes(level)}
                  onChange={(isChosen) =>
                    setLevels(LEVELS.filter((one) => (one === level ? isChosen : levels.includes(one))))
                  }
                />
              ))}
            </fieldset>
          )}
        </FormLayout>
      </Card>
      <Card title="Permissions" description={`${held.size} chosen. You cannot give more than you hold.`}>
        <PermissionMatrix permissions={permissions} held={held} onChange={setHeld} />
      </Card>
      <div>
        <Button type="submit" variant="primary" busy={save.isPending}>
          {former ? "Save role" : "Create role"}
        </Button>
      </div>
    </form>
  );
}
