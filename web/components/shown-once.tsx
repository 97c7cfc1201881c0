import type { ReactNode } from "react";
import { CodeBlock } from "../ui/code-block.tsx";
import { Notice } from "../ui/notice.tsx";
import styles from "./shown-once.module.css";

type ShownOnceProps = {
  /** What the value is: Token, Invitation link */
  readonly label: string;
  readonly value: string;
  /** What to do with it. */
  readonly children?: ReactNode;
};

/** A credential that was just made. The server keeps only its hash, so no later answer contains it. */
export function ShownOnce({ label, value, children }: ShownOnceProps) {
  return (
    <div className={styles.parts}>
      {children !== undefined && <p>{children}</p>}
      <Notice tone="waiting" title="Copy it now">
        It is shown only once and cannot be read again.
      </Notice>
      <CodeBlock label={label} code={value} wrap />
    </div>
  );
}
