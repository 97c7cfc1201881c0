import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";
import { Name } from "./name.tsx";
import styles from "./tag.module.css";

type TagProps = {
  readonly children: ReactNode;
  /** Adds a button that removes the tag; `removeLabel` is its name. */
  readonly onRemove?: (() => void) | undefined;
  readonly removeLabel?: string | undefined;
};

/** A label that people gave: tags of delegates and pipelines, selected values, filters. */
export function Tag({ children, onRemove, removeLabel = "Remove" }: TagProps) {
  return (
    <span className={styles.tag}>
      <span className={styles.text}>{children}</span>
      {onRemove !== undefined && (
        <button type="button" className={styles.remove} aria-label={removeLabel} title={removeLabel} onClick={onRemove}>
          <Icon name="close" size={12} />
        </button>
      )}
    </span>
  );
}

export function TagList({ tags }: { readonly tags: readonly string[] }) {
  return (
    <ul className={styles.list}>
      {tags.map((tag) => (
        <li key={tag} title={tag}>
          <Tag>
            <Name>{tag}</Name>
          </Tag>
        </li>
      ))}
    </ul>
  );
}
