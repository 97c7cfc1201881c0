import { lazy, Suspense } from "react";
import { Skeleton } from "../../ui/skeleton.tsx";
import type { CodeEditorProps } from "./code-editor.tsx";

/** The editor is larger than all other code of the first view, so it is loaded when a page needs it. */
const CodeEditor = lazy(async () => ({ default: (await import("./code-editor.tsx")).CodeEditor }));

/** A text editor for YAML. Tab leaves it unless it has been told otherwise by Ctrl M; Esc and Tab always leave it. */
export function YamlEditor(props: CodeEditorProps) {
  return (
    <Suspense fallback={<Skeleton height="24rem" />}>
      <CodeEditor {...props} />
    </Suspense>
  );
}
