import styles from "./skeleton.module.css";
import { VisuallyHidden } from "./visually-hidden.tsx";

type SkeletonProps = {
  /** A CSS length or percentage. */
  readonly width?: string | undefined;
  readonly height?: string | undefined;
};

/** Holds the place of content that is being loaded. */
export function Skeleton({ width = "100%", height = "1rem" }: SkeletonProps) {
  return <span className={styles.bar} style={{ width, height }} aria-hidden />;
}

const WIDTHS = ["72%", "54%", "63%", "45%", "68%"];

/** Lines of text that are being loaded. */
export function SkeletonLines({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div className={styles.lines} role="status">
      <VisuallyHidden>Loading</VisuallyHidden>
      {Array.from({ length: lines }, (_, index) => (
        <Skeleton key={index} width={WIDTHS[index % WIDTHS.length]} />
      ))}
    </div>
  );
}
