import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { fetchData } from "../../../api/client.ts";
import { organizationList, projectList } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { Combobox, type ComboboxOption } from "../../../ui/combobox.tsx";
import { IconButton } from "../../../ui/button.tsx";
import { Name } from "../../../ui/name.tsx";
import { RadioGroup } from "../../../ui/radio-group.tsx";
import { useDebounced } from "../../../util/use-debounced.ts";
import { levelOf } from "../shared/levels.ts";
import styles from "../shared/panel.module.css";
import { placeKey, placeName, type Place } from "./resource-group.ts";

type ScopesFieldProps = {
  /** The scope of the group. */
  readonly scope: Scope;
  readonly places: readonly Place[];
  readonly onChange: (places: readonly Place[]) => void;
};
type Choice = "own" | "below" | "chosen";

/** Where the resources of a group lie: in its own scope, or in scopes inside of it. */
export function ScopesField({ scope, places, onChange }: ScopesFieldProps) {
  const level = levelOf(scope);
  const [choice, setChoice] = useState<Choice>(() => choiceOf(scope, places));
  if (level === "project") return null;
  return (
    <>
      <RadioGroup<Choice>
        label="Where the resources lie"
        value={choice}
        onChange={(next) => {
          setChoice(next);
          onChange(next === "chosen" ? [] : [{ ...scope, withChildren: next === "below" }]);
        }}
        options={[
          {
            value: "own",
            label: `In this ${level} itself`,
            hint: "The only place where single resources can be named.",
          },
          { value: "below", label: `In this ${level} and all below it`, hint: "Also in what is created later." },
          { value: "chosen", label: "In chosen scopes" },
        ]}
      />
      {choice === "chosen" && <ChosenScopes scope={scope} places={places} onChange={onChange} />}
    </>
  );
}

function choiceOf(scope: Scope, places: readonly Place[]): Choice {
  const [only, ...others] = places;
  if (only === undefined || others.length > 0 || placeKey(only) !== placeKey(scope)) return "chosen";
  return only.withChildren ? "below" : "own";
}

function ChosenScopes({ scope, places, onChange }: ScopesFieldProps) {
  const [text, setText] = useState("");
  const searched = useDebounced(text.trim(), 200);
  const found = useQuery({
    queryKey: ["scopes", scope, searched],
    queryFn: ({ signal }) => searchScopes(scope, searched, signal),
    placeholderData: keepPreviousData,
  });
  const replace = (changed: Place, next: Place | undefined): void =>
    onChange(places.flatMap((one) => (one === changed ? (next ? [next] : []) : [one])));
  return (
    <div>
      <Combobox
        label="Add a scope"
        placeholder="Add an organization or a project"
        value=""
        options={found.data}
        onSearch={setText}
        onChange={(key) => {
          const [orgIdentifier = "", projectIdentifier] = key.split("/");
          const place = { orgIdentifier, ...(projectIdentifier === undefined ? {} : { projectIdentifier }) };
          if (key !== "" && !places.some((one) => placeKey(one) === key))
            onChange([...places, { ...place, withChildren: false }]);
        }}
      />
      <ul className={styles.rows} aria-label="Chosen scopes">
        {places.map((place) => (
          <li key={placeKey(place)} className={styles.row}>
            <span className={styles.text}>
              <Name>{placeName(place)}</Name>
              {levelOf(place) !== "project" && (
                <Checkbox
                  label="with all below it"
                  checked={place.withChildren}
                  onChange={(withChildren) => replace(place, { ...place, withChildren })}
                />
              )}
            </span>
            <IconButton
              icon="trash"
              size="small"
              label={`Leave out ${placeName(place)}`}
              onClick={() => replace(place, undefined)}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Organizations of the account, and projects, inside the scope. */
async function searchScopes(scope: Scope, text: string, signal: AbortSignal): Promise<readonly ComboboxOption[]> {
  const query = { pageSize: 20, ...(text === "" ? {} : { searchTerm: text }) };
  const [organizations, projects] = await Promise.all([
    scope.orgIdentifier === undefined
      ? fetchData(organizationList, { query }, { signal })
      : Promise.resolve({ content: [] }),
    fetchData(projectList, { query: { ...query, ...scope } }, { signal }),
  ]);
  return [
    ...organizations.content.map(({ organization: { identifier, name } }) => ({
      value: identifier,
      label: name,
      hint: `Organization ${identifier}`,
    })),
    ...projects.content.map(({ project: { orgIdentifier, identifier, name } }) => ({
      value: `${orgIdentifier}/${identifier}`,
      label: name,
      hint: `Project ${orgIdentifier}/${identifier}`,
    })),
  ];
}
