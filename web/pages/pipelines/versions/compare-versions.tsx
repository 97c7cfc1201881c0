import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, request } from "../../../api/client.ts";
import { pipelineGetVersion, pipelineSummary, pipelineUpdateV2 } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { Button } from "../../../ui/button.tsx";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { DiffView } from "../../../ui/diff-view.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { useToast } from "../../../ui/toast.tsx";
import type { PipelineKey } from "../shared/pipeline-key.ts";
import styles from "./versions-page.module.css";

type CompareVersionsProps = {
  readonly pipeline: PipelineKey;
  /** 0 for the first version, which has nothing before it. */
  readonly before: number;
  readonly version: number;
};

export function CompareVersions({ pipeline, before, version }: CompareVersionsProps) {
  const { identifier, scope } = pipeline;
  const canRestore = useMay(scope)(pipelineUpdateV2);
  const [isAsking, setIsAsking] = useState(false);
  const read = (one: number) => ({
    ...dataQuery(pipelineGetVersion, { path: { identifier, version: one }, query: scope }),
    // Versions never change.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const old = useQuery({ ...read(before), enabled: before > 0 });
  const shown = useQuery(read(version));
  const summary = useQuery(dataQuery(pipelineSummary, { path: { identifier }, query: scope }));
  const newest = summary.data?.version;
  const error = shown.error ?? old.error;
  if (error !== null) return <Notice tone="failed">{messageOf(error)}</Notice>;
  if (shown.data === undefined || (before > 0 && old.data === undefined)) return <SkeletonLines lines={8} />;
  const text = shown.data.yamlPipeline;
  return (
    <div className={styles.compare}>
      {canRestore && newest !== undefined && version < newest && (
        <div className={styles.actions}>
          <Button icon="history" onClick={() => setIsAsking(true)}>
            Restore version {version}
          </Button>
        </div>
      )}
      {old.data === undefined ? (
        <CodeBlock label="Version 1" code={text} />
      ) : (
        <DiffView label={`Version ${before} and version ${version}`} before={old.data.yamlPipeline} after={text} />
      )}
      {isAsking && newest !== undefined && (
        <RestoreVersion
          pipeline={pipeline}
          version={version}
          newest={newest}
          text={text}
          onClose={() => setIsAsking(false)}
        />
      )}
    </div>
  );
}

type RestoreVersionProps = {
  readonly pipeline: PipelineKey;
  readonly version: number;
  readonly newest: number;
  readonly text: string;
  readonly onClose: () => void;
};

function RestoreVersion({ pipeline: { identifier, scope }, version, newest, text, onClose }: RestoreVersionProps) {
  const queryClient = useQueryClient();
  const show = useToast();
  const restore = useMutation({
    mutationFn: () =>
      request(
        pipelineUpdateV2,
        { path: { identifier }, query: scope, body: text },
        { headers: { "if-match": `"${newest}"` } },
      ),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ predicate: ({ queryKey: [id] }) => String(id).startsWith("pipeline.") });
      show({ tone: "success", message: `Version ${version} was saved as version ${newest + 1}.` });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      danger={false}
      title={`Restore version ${version}?`}
      action={`Restore version ${version}`}
      busy={restore.isPending}
      error={restore.error === null ? undefined : messageOf(restore.error)}
      onConfirm={() => restore.mutate()}
      onClose={onClose}
    >
      It is saved again as version {newest + 1}, which new runs use. Version {newest} stays in this list.
    </ConfirmDialog>
  );
}
