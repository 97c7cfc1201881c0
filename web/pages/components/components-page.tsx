import { useState } from "react";
import { PageHeader } from "../../ui/page-header.tsx";
import { SegmentedControl } from "../../ui/radio-group.tsx";
import { Actions } from "./actions.tsx";
import { Charts } from "./charts.tsx";
import styles from "./components-page.module.css";
import { Content } from "./content.tsx";
import { Feedback } from "./feedback.tsx";
import { Fields } from "./fields.tsx";
import { Layouts } from "./layouts.tsx";
import { Overlays } from "./overlays.tsx";
import { Statuses } from "./statuses.tsx";
import { Tables } from "./tables.tsx";

const THEMES = [
  { value: "page", label: "As the page" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
] as const;

/** Every primitive in its states, for the eyes of people and the checks of tests. */
export function ComponentsPage() {
  const [theme, setTheme] = useState<(typeof THEMES)[number]["value"]>("page");
  return (
    <div className={styles.page} data-theme={theme === "page" ? undefined : theme}>
      <PageHeader
        title="Components"
        meta="The parts that all pages are made of, in all their states."
        actions={<SegmentedControl label="Theme" options={THEMES} value={theme} onChange={setTheme} />}
      />
      <div className={styles.sections}>
        <Statuses />
        <Actions />
        <Fields />
        <Overlays />
        <Tables />
        <Charts />
        <Content />
        <Feedback />
        <Layouts />
      </div>
    </div>
  );
}
