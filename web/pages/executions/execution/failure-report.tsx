import { isFinalStatus, lookOf } from "../../../components/execution-status.ts";
import { plainLog } from "../../../util/plain-log.ts";
import { Notice } from "../../../ui/notice.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import styles from "./execution-page.module.css";

type Failure = {
  readonly message: string;
  readonly failureTypeList: readonly string[];
  readonly logTail: string | null;
};

/** The message of a failure and the last lines of the log. */
export function FailureReport({ failure, status }: { readonly failure: Failure; readonly status: string }) {
  const { message, failureTypeList, logTail } = failure;
  const isIgnored = status === "IgnoreFailed";
  // A retried step keeps the failure of its attempt before.
  const counts = (isFinalStatus(status) && status !== "Success" && !isIgnored) || status === "InterventionWaiting";
  return (
    <div className={styles.block}>
      <Notice tone={counts ? "failed" : "waiting"} title={titleOf(status, counts)}>
        <p className={styles.message}>{visibleText(message)}</p>
        {failureTypeList.length > 0 && <p className={styles.muted}>{failureTypeList.join(", ")}</p>}
      </Notice>
      {logTail !== null && logTail !== "" && <LogText label="Last lines of the log" text={logTail} />}
    </div>
  );
}

function titleOf(status: string, counts: boolean): string {
  if (!counts) return status === "IgnoreFailed" ? lookOf(status).label : "The attempt before has failed";
  return lookOf(status === "InterventionWaiting" ? "Failed" : status).label;
}

/** A part of a log as text: escapes of terminals are left out, other invisible characters are shown. */
export function LogText({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    // What scrolls has to be reachable by the keyboard.
    <pre className={styles.log} tabIndex={0} role="region" aria-label={label}>
      <bdi>{plainLog(text)}</bdi>
    </pre>
  );
}
