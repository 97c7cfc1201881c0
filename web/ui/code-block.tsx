import { classNames } from "../util/class-names.ts";
import styles from "./code-block.module.css";
import { CopyButton } from "./copy-button.tsx";

type CodeBlockProps = {
  readonly code: string;
  /** What the code is: Install command */
  readonly label: string;
  readonly wrap?: boolean | undefined;
  /** Scrolls beyond this height; a CSS length. */
  readonly maxHeight?: string | undefined;
};

export function CodeBlock({ code, label, wrap, maxHeight }: CodeBlockProps) {
  return (
    <div className={styles.block} role="group" aria-label={label}>
      {/* What scrolls has to be reachable by the keyboard. */}
      <pre className={classNames(styles.code, wrap === true && styles.wrap)} style={{ maxHeight }} tabIndex={0}>
        <code>{code}</code>
      </pre>
      <div className={styles.copy}>
        <CopyButton text={code} label={`Copy: ${label}`} />
      </div>
    </div>
  );
}

/** A short name or value within text. */
export function Code({ children }: { readonly children: string }) {
  return <code className={styles.inline}>{children}</code>;
}
