import { Skeleton, SkeletonLines } from "../ui/skeleton.tsx";
import styles from "./page-pending.module.css";

/** Stands in the place of a page whose data takes longer than a moment. */
export function PagePending() {
  return (
    <div className={styles.pending}>
      <Skeleton width="16rem" height="1.75rem" />
      <SkeletonLines lines={6} />
    </div>
  );
}
