import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef, type ReactNode } from "react";
import styles from "./virtual-list.module.css";

type VirtualListProps<Item> = {
  readonly label: string;
  readonly items: readonly Item[];
  readonly itemKey: (item: Item) => string;
  readonly renderItem: (item: Item, index: number) => ReactNode;
  /** Pixels. Rows are measured once they are shown. */
  readonly estimatedHeight: number;
  /** A CSS length. */
  readonly height: string;
};

/** A scrolling list of which only the visible rows are in the page. */
export function VirtualList<Item>(props: VirtualListProps<Item>) {
  const { label, items, itemKey, renderItem, estimatedHeight, height } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimatedHeight,
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : itemKey(item);
    },
    overscan: 8,
  });
  return (
    // What scrolls has to be reachable by the keyboard.
    <div ref={scroller} className={styles.scroller} style={{ height }} tabIndex={0} role="region" aria-label={label}>
      <ul className={styles.list} style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ key, index, start }) => {
          const item = items[index];
          return (
            <li
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              className={styles.item}
              style={{ transform: `translateY(${start}px)` }}
              aria-setsize={items.length}
              aria-posinset={index + 1}
            >
              {item !== undefined && renderItem(item, index)}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
