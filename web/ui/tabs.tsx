import { createLink } from "@tanstack/react-router";
import { Tabs as RadixTabs } from "radix-ui";
import type { ComponentProps, ReactNode } from "react";
import { classNames } from "../util/class-names.ts";
import { Count } from "./badge.tsx";
import styles from "./tabs.module.css";

/** Tabs that are pages: each has an address. */
export function LinkTabs({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <nav className={styles.list} aria-label={label}>
      {children}
    </nav>
  );
}

type TabAnchorProps = ComponentProps<"a"> & { readonly count?: number | undefined };

function TabAnchor({ count, className, children, ...rest }: TabAnchorProps) {
  return (
    <a {...rest} className={classNames(styles.tab, className)}>
      {children}
      {count !== undefined && <Count>{count}</Count>}
    </a>
  );
}

/** One of LinkTabs. The router marks the current one. */
export const TabLink = createLink(TabAnchor);

export type Tab<Id extends string> = {
  readonly id: Id;
  readonly label: string;
  readonly count?: number;
  readonly content: ReactNode;
};

type TabsProps<Id extends string> = {
  readonly label: string;
  readonly tabs: readonly Tab<Id>[];
  readonly selected: Id;
  readonly onChange: (id: Id) => void;
};

/** Tabs inside a page. */
export function Tabs<Id extends string>({ label, tabs, selected, onChange }: TabsProps<Id>) {
  return (
    <RadixTabs.Root
      value={selected}
      onValueChange={(value) => {
        const tab = tabs.find(({ id }) => id === value);
        if (tab) onChange(tab.id);
      }}
    >
      <RadixTabs.List className={styles.list} aria-label={label}>
        {tabs.map(({ id, label: name, count }) => (
          <RadixTabs.Trigger key={id} value={id} className={styles.tab}>
            {name}
            {count !== undefined && <Count>{count}</Count>}
          </RadixTabs.Trigger>
        ))}
      </RadixTabs.List>
      {tabs.map(({ id, content }) => (
        <RadixTabs.Content key={id} value={id} className={styles.panel}>
          {content}
        </RadixTabs.Content>
      ))}
    </RadixTabs.Root>
  );
}
