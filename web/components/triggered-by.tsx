import type { ExecutionTriggerInfo } from "../api/operations.gen.ts";
import { Icon } from "../ui/icon.tsx";
import { Name } from "../ui/name.tsx";
import { visibleText } from "../util/visible-text.ts";
import styles from "./triggered-by.module.css";

/** Who or what started an execution. */
export function TriggeredBy({ info }: { readonly info: ExecutionTriggerInfo }) {
  const { triggeredBy, triggerType, isRerun } = info;
  const trigger = triggerType === "MANUAL" ? undefined : triggeredBy.extraInfo.triggerRef;
  const name = nameOf(trigger?.split("/").at(-1) ?? triggeredBy.identifier);
  const how = triggerType === "MANUAL" ? (isRerun ? "Run again by" : "Started by") : "Webhook of trigger";
  return (
    <span className={styles.by} title={`${how} ${visibleText(trigger ?? triggeredBy.identifier)}`}>
      <Icon name={triggerType === "MANUAL" ? (isRerun ? "retry" : "user") : "bolt"} size={14} label={how} />
      <span className={styles.name}>
        <Name>{name}</Name>
      </span>
    </span>
  );
}

/** The part of an address that tells people apart; whole names stay. */
const nameOf = (identifier: string): string => identifier.replace(/@[^@\s]+$/, "");
