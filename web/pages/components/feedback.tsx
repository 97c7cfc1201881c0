import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { Name } from "../../ui/name.tsx";
import { Notice } from "../../ui/notice.tsx";
import { ProgressBar } from "../../ui/progress-bar.tsx";
import { SkeletonLines } from "../../ui/skeleton.tsx";
import styles from "./components-page.module.css";
import { HOSTILE_NAME } from "./samples.ts";

export function Feedback() {
  return (
    <>
      <Card title="Notices and progress">
        <div className={styles.stack}>
          <Notice>A new version of this page is available.</Notice>
          <Notice tone="success" title="The connection works">
            The registry answered in 120 ms.
          </Notice>
          <Notice tone="waiting" title="The connection was lost" actions={<Button size="small">Reconnect</Button>}>
            What you see may be old.
          </Notice>
          <Notice tone="failed" title="The pipeline could not be saved">
            Stage &apos;<Name>{HOSTILE_NAME}</Name>&apos; has no steps.
          </Notice>
          <ProgressBar label="Upload" value={0.4} />
          <ProgressBar label="Import" />
          <SkeletonLines />
        </div>
      </Card>
      <div className={styles.wide}>
        <Card title="Empty">
          <EmptyState
            icon="pipeline"
            title="No pipelines yet"
            actions={<Button variant="primary">Create pipeline</Button>}
          >
            A pipeline says what to build and where to deploy it.
          </EmptyState>
        </Card>
        <Card title="Failed">
          <ErrorState
            title="The pipelines could not be loaded"
            message="The database did not answer in time. Try again in a moment."
            correlationId="01JNQ5K0F3Z8W4B7"
            onRetry={() => undefined}
          />
        </Card>
      </div>
    </>
  );
}
