import { knownStatuses } from "../../components/execution-status.ts";
import { StatusBadge } from "../../components/status-badge.tsx";
import { StatusIcon } from "../../components/status-icon.tsx";
import { Badge, Count } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { Tag, TagList } from "../../ui/tag.tsx";
import styles from "./components-page.module.css";
import { LONG_NAME } from "./samples.ts";

const COLORS = [
  "canvas",
  "surface",
  "surface-raised",
  "surface-sunken",
  "hover",
  "active",
  "selected",
  "border",
  "accent",
];

export function Statuses() {
  return (
    <>
      <Card title="Statuses" description="Shape, word and colour; each shape occurs once.">
        <div className={styles.stack}>
          <div className={styles.row}>
            {[...knownStatuses, "SomethingNew"].map((status) => (
              <StatusBadge key={status} status={status} />
            ))}
          </div>
          <div className={styles.row}>
            {knownStatuses.map((status) => (
              <StatusIcon key={status} status={status} size={20} />
            ))}
          </div>
        </div>
      </Card>
      <Card title="Badges, counts and tags">
        <div className={styles.row}>
          <Badge>Draft</Badge>
          <Badge tone="success" icon="check">
            Connected
          </Badge>
          <Badge tone="waiting" icon="warning">
            Expires in 3 days
          </Badge>
          <Badge title={LONG_NAME}>{LONG_NAME}</Badge>
          <Count>12</Count>
          <Tag>linux</Tag>
          <Tag onRemove={() => undefined} removeLabel="Remove gpu">
            gpu
          </Tag>
          <TagList tags={["arm64", "region:eu-west-1", LONG_NAME]} />
        </div>
      </Card>
      <Card title="Colours">
        <div className={styles.columns}>
          {COLORS.map((name) => (
            <div key={name} className={styles.swatch}>
              <span className={styles.color} style={{ "--swatch": `var(--color-${name})` }} />
              <code>{name}</code>
            </div>
          ))}
        </div>
      </Card>
    </>
  );
}
