import { ToneIcon } from "../../../components/status-icon.tsx";
import { Badge } from "../../../ui/badge.tsx";
import { Link } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import { TagList } from "../../../ui/tag.tsx";
import { RelativeTime } from "../../../ui/time.tsx";
import { VirtualList } from "../../../ui/virtual-list.tsx";
import { classNames } from "../../../util/class-names.ts";
import { stateOf, STATE_LOOKS, type Delegate } from "./delegate.ts";
import { parseDelegatesSearch } from "./delegates-search.ts";
import styles from "./delegate-list.module.css";

const ROW_PX = 41;
/** A longer list scrolls by itself, and only its visible rows are in the page. */
const MOST_PLAIN_ROWS = 30;

export function DelegateList({ delegates }: { readonly delegates: readonly Delegate[] }) {
  if (delegates.length === 0) return <p className={styles.none}>No delegate matches the filters.</p>;
  return (
    <div className={styles.container}>
      <div className={styles.head} aria-hidden>
        <span>Name</span>
        <span>State</span>
        <span>Host</span>
        <span>Tags</span>
        <span className={styles.number}>Slots</span>
        <span className={styles.number}>Last seen</span>
      </div>
      {delegates.length <= MOST_PLAIN_ROWS ? (
        <ul aria-label="Delegates">
          {delegates.map((delegate) => (
            <li key={delegate.uuid}>
              <DelegateRow delegate={delegate} />
            </li>
          ))}
        </ul>
      ) : (
        <VirtualList
          label="Delegates"
          items={delegates}
          itemKey={({ uuid }) => uuid}
          estimatedHeight={ROW_PX}
          height="max(20rem, calc(100dvh - 15rem))"
          renderItem={(delegate) => <DelegateRow delegate={delegate} />}
        />
      )}
    </div>
  );
}

function DelegateRow({ delegate }: { readonly delegate: Delegate }) {
  return (
    <div className={styles.row}>
      <div className={styles.name}>
        <Link
          look="quiet"
          from="/account/delegates"
          to="/account/delegates"
          search={(former) => parseDelegatesSearch({ ...former, delegate: delegate.uuid })}
          title={delegate.delegateName}
        >
          <Name>{delegate.delegateName}</Name>
        </Link>
      </div>
      <DelegateBadge delegate={delegate} />
      <div className={styles.host} title={delegate.hostName}>
        <Name>{delegate.hostName}</Name>
      </div>
      <div className={styles.tags}>{delegate.tags.length > 0 && <TagList tags={delegate.tags} />}</div>
      <div className={classNames(styles.number, styles.slots)}>
        <span title={`${delegate.slotsInUse} of ${delegate.slots} slots run tasks`}>
          {delegate.slotsInUse} / {delegate.slots}
        </span>
      </div>
      <div className={classNames(styles.number, styles.seen)}>
        <LastSeen delegate={delegate} />
      </div>
    </div>
  );
}

/** While a delegate is connected its heartbeats are no events; their exact time would be out of date. */
export function LastSeen({ delegate }: { readonly delegate: Delegate }) {
  return delegate.connected ? <>now</> : <RelativeTime at={delegate.lastHeartBeat} />;
}

export function DelegateBadge({ delegate }: { readonly delegate: Delegate }) {
  const { tone, label } = STATE_LOOKS[stateOf(delegate)];
  return (
    <span>
      <Badge tone={tone} shape={<ToneIcon tone={tone} size={12} />}>
        {label}
      </Badge>
    </span>
  );
}
