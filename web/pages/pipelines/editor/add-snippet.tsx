import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { dataQuery, type DataOf } from "../../../api/client.ts";
import { yamlSnippetList } from "../../../api/operations.gen.ts";
import { Button } from "../../../ui/button.tsx";
import { Menu, MenuItem, MenuLabel } from "../../../ui/menu.tsx";
import styles from "./pipeline-editor.module.css";

export type ListedSnippet = DataOf<typeof yamlSnippetList>[number];

const GROUPS = [
  { place: "steps", label: "After the step at the cursor" },
  { place: "step", label: "Into the step at the cursor" },
  { place: "stages", label: "After the stage at the cursor" },
] as const;

/** The menu of pieces that can be added to a pipeline. */
export function AddSnippet({ onAdd }: { readonly onAdd: (snippet: ListedSnippet) => void }) {
  const snippets = useQuery({ ...dataQuery(yamlSnippetList, {}), staleTime: Number.POSITIVE_INFINITY });
  return (
    <Menu
      align="start"
      trigger={
        <Button size="small" icon="plus" trailingIcon="chevron-down" disabled={snippets.data === undefined}>
          Add step
        </Button>
      }
    >
      {GROUPS.map(({ place, label }) => (
        <Fragment key={place}>
          <MenuLabel>{label}</MenuLabel>
          {(snippets.data ?? [])
            .filter((snippet) => snippet.place === place)
            .map((snippet) => (
              <MenuItem key={`${snippet.kind} ${snippet.name}`} onSelect={() => onAdd(snippet)}>
                <span className={styles.snippet}>
                  {snippet.name}
                  <span className={styles.about}>{snippet.description}</span>
                </span>
              </MenuItem>
            ))}
        </Fragment>
      ))}
    </Menu>
  );
}
