import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import styles from "./error-state.module.css";
import { Icon } from "./icon.tsx";

type ErrorStateProps = {
  /** What could not be done: The pipelines could not be loaded */
  readonly title: string;
  /** The server's message. */
  readonly message: string;
  /** Finds the request in the server's log. */
  readonly correlationId?: string | undefined;
  readonly onRetry?: (() => void) | undefined;
  readonly retrying?: boolean | undefined;
};

export function ErrorState({ title, message, correlationId, onRetry, retrying }: ErrorStateProps) {
  return (
    <div className={styles.error} role="alert">
      <span className={styles.icon}>
        <Icon name="error" size={24} />
      </span>
      <p className={styles.title}>{title}</p>
      <p className={styles.message}>{message}</p>
      {correlationId !== undefined && (
        <p className={styles.id}>
          Correlation ID <code>{correlationId}</code>
          <CopyButton text={correlationId} label="Copy the correlation ID" />
        </p>
      )}
      {onRetry !== undefined && (
        <Button icon="refresh" onClick={onRetry} busy={retrying}>
          Try again
        </Button>
      )}
    </div>
  );
}
