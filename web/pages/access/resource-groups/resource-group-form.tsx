import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, fetchData, type RequestOf } from "../../../api/client.ts";
import {
  resourceGroupCreate,
  resourceGroupGet,
  resourceGroupList,
  resourceGroupListTypes,
  resourceGroupUpdate,
} from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import { currentSession } from "../../../api/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { identifierFor } from "../../../util/identifier.ts";
import styles from "../shared/panel.module.css";
import { placeKey, placeOf, type Place, type ResourceGroup } from "./resource-group.ts";
import { ScopesField } from "./scopes-field.tsx";
import { resourcesOf, TypesField, type ChosenTypes } from "./types-field.tsx";

type ResourceGroupFormProps = {
  readonly scope: Scope;
  readonly former: ResourceGroup | undefined;
  readonly onSaved?: ((identifier: string) => void) | undefined;
};

/** Creates a resource group, or changes the former one. */
export function ResourceGroupForm({ scope, former, onSaved }: ResourceGroupFormProps) {
  const [name, setName] = useState(former?.name ?? "");
  const [typed, setTyped] = useState<string>();
  const [description, setDescription] = useState(former?.description ?? "");
  const [places, setPlaces] = useState<readonly Place[]>(
    former?.includedScopes.map(placeOf) ?? [{ ...scope, withChildren: false }],
  );
  const [chosen, setChosen] = useState(() => chosenTypesOf(former));
  const types = useQuery(dataQuery(resourceGroupListTypes, { query: scope }));
  const queryClient = useQueryClient();
  const show = useToast();
  const identifier = former?.identifier ?? typed ?? identifierFor(name);
  const [only, ...others] = places;
  const allowsSingle =
    only !== undefined && others.length === 0 && !only.withChildren && placeKey(only) === placeKey(scope);
  const save = useMutation({
    mutationFn: () => {
      const details = { ...scope, identifier, name: name.trim(), description, tags: former?.tags ?? {} };
      const body = bodyOf(details, places, chosen && resourcesOf(chosen, allowsSingle));
      return former
        ? fetchData(resourceGroupUpdate, { path: { identifier }, query: scope, body })
        : fetchData(resourceGroupCreate, { query: scope, body });
    },
    onSuccess: async () => {
      const lists = [resourceGroupList, resourceGroupGet];
      await Promise.all(lists.map(({ id }) => queryClient.invalidateQueries({ queryKey: [id] })));
      show({ tone: "success", message: `Resource group ${name.trim()} was ${former ? "saved" : "created"}.` });
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
      {types.error !== null && <Notice tone="failed">{messageOf(types.error)}</Notice>}
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
          <ScopesField scope={scope} places={places} onChange={setPlaces} />
          <TypesField
            types={types.data?.resourceTypes.map((type) => type.name) ?? []}
            chosen={chosen}
            allowsSingle={allowsSingle}
            onChange={setChosen}
          />
        </FormLayout>
      </Card>
      <div>
        <Button type="submit" variant="primary" busy={save.isPending}>
          {former ? "Save resource group" : "Create resource group"}
        </Button>
      </div>
    </form>
  );
}

function chosenTypesOf(group: ResourceGroup | undefined): ChosenTypes | undefined {
  if (group === undefined || group.resourceFilter.includeAllResources) return undefined;
  return new Map(
    group.resourceFilter.resources.map(({ resourceType, identifiers }) => [
      resourceType,
      identifiers?.join(", ") ?? "",
    ]),
  );
}

type Body = RequestOf<typeof resourceGroupCreate>["body"];
type Details = Scope & { readonly identifier: string; readonly name: string; readonly description: string };

/** `resources` undefined: all. */
function bodyOf(details: Details, places: readonly Place[], resources: readonly object[] | undefined): Body {
  const { accountIdentifier } = currentSession();
  return {
    resourceGroup: {
      ...details,
      includedScopes: places.map(({ withChildren, ...place }) => ({
        ...place,
        accountIdentifier,
        filter: withChildren ? "INCLUDING_CHILD_SCOPES" : "EXCLUDING_CHILD_SCOPES",
      })),
      resourceFilter:
        resources === undefined ? { includeAllResources: true } : { includeAllResources: false, resources },
    },
  } as Body;
}
