import { initialsOf } from "../util/initials.ts";
import styles from "./avatar.module.css";
import { Name } from "./name.tsx";

/** The initials of a person. The name stands beside them. */
export function Avatar({ name, size = "small" }: { readonly name: string; readonly size?: "small" | "large" }) {
  return (
    <span className={size === "large" ? styles.large : styles.small} aria-hidden>
      {initialsOf(name)}
    </span>
  );
}

/** A person with initials. */
export function Person({ name }: { readonly name: string }) {
  return (
    <span className={styles.person}>
      <Avatar name={name} />
      <span className={styles.name} title={name}>
        <Name>{name}</Name>
      </span>
    </span>
  );
}
