import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { dataQuery } from "../api/client.ts";
import { projectList } from "../api/operations.gen.ts";
import type { ProjectKey } from "../api/recent-project.ts";
import { Icon } from "../ui/icon.tsx";
import { Popover } from "../ui/popover.tsx";
import { SearchField } from "../ui/search-field.tsx";
import styles from "./project-picker.module.css";

const SHOWN = 50;

/** Chooses the project whose pages the sidebar shows. */
export function ProjectPicker({ current }: { readonly current: ProjectKey | undefined }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover
      open={isOpen}
      onOpenChange={setOpen}
      label="Choose a project"
      trigger={
        <button type="button" className={styles.trigger}>
          <span className={styles.text}>
            <span className={styles.org}>{current?.org ?? "No project"}</span>
            <span className={styles.name}>{current?.project ?? "Choose a project"}</span>
          </span>
          <Icon name="sort" />
        </button>
      }
    >
      <Projects onChosen={() => setOpen(false)} />
    </Popover>
  );
}

function Projects({ onChosen }: { readonly onChosen: () => void }) {
  const [text, setText] = useState("");
  const query = { pageSize: SHOWN, ...(text === "" ? {} : { searchTerm: text }) };
  const { data, isPending } = useQuery({ ...dataQuery(projectList, { query }), placeholderData: (former) => former });
  const projects = data?.content ?? [];
  return (
    <div className={styles.panel}>
      <SearchField value={text} onSearch={setText} label="Search projects" />
      <ul className={styles.list}>
        {projects.map(({ project }) => (
          <li key={`${project.orgIdentifier}/${project.identifier}`}>
            <Link
              to="/projects/$org/$project"
              params={{ org: project.orgIdentifier, project: project.identifier }}
              className={styles.project}
              onClick={onChosen}
            >
              <span className={styles.name}>{project.name}</span>
              <span className={styles.org}>
                {project.orgIdentifier} / {project.identifier}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {!isPending && projects.length === 0 && <p className={styles.none}>No project has this name.</p>}
      {(data?.totalItems ?? 0) > SHOWN && (
        <p className={styles.none}>Type to find others of {data?.totalItems} projects.</p>
      )}
      <Link to="/account/projects" className={styles.all} onClick={onChosen}>
        All projects
      </Link>
    </div>
  );
}
