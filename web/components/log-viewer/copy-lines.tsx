import { useState } from "react";
import { messageOf } from "../../api/api-error.ts";
import { IconButton } from "../../ui/button.tsx";
import { copyText } from "../../ui/copy-button.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { useToast } from "../../ui/toast.tsx";
import { MOST_COPIED, readText } from "./copy-text.ts";
import { formatLineSpan, type LineSpan } from "./lines/line-range.ts";
import type { LogReader } from "./lines/log-answers.ts";

type CopyLinesProps = {
  readonly reader: LogReader;
  readonly span: LineSpan | undefined;
  readonly totalLines: number;
};

/** Copies the selected lines, all lines, or the address of the selected ones. */
export function CopyLines({ reader, span, totalLines }: CopyLinesProps) {
  const show = useToast();
  const [isBusy, setIsBusy] = useState(false);
  const copy = async (text: () => Promise<string>, done: string): Promise<void> => {
    setIsBusy(true);
    try {
      await copyText(await text());
      show({ tone: "success", message: done });
    } catch (error) {
      const isRefused = error instanceof DOMException && error.name === "NotAllowedError";
      show({ tone: "failed", message: isRefused ? "The browser did not allow copying." : messageOf(error) });
    } finally {
      setIsBusy(false);
    }
  };
  const copyLines = ({ from, to }: LineSpan): void => {
    const end = Math.min(to, totalLines);
    if (end - from >= MOST_COPIED)
      show({ tone: "failed", message: `At most ${MOST_COPIED} lines can be copied. Download the log for more.` });
    else void copy(() => readText(reader, { from, to: end }), "The lines were copied.");
  };
  return (
    <Menu trigger={<IconButton icon="copy" label="Copy" busy={isBusy} />}>
      {span !== undefined && (
        <MenuItem icon="copy" onSelect={() => copyLines(span)}>
          {span.from === span.to ? `Copy line ${span.from}` : `Copy lines ${span.from} to ${span.to}`}
        </MenuItem>
      )}
      <MenuItem icon="copy" onSelect={() => copyLines({ from: 1, to: totalLines })}>
        Copy all lines
      </MenuItem>
      <MenuItem icon="link" onSelect={() => void copy(() => Promise.resolve(location.href), "The link was copied.")}>
        {span === undefined ? "Copy link" : `Copy link to ${formatLineSpan(span)}`}
      </MenuItem>
    </Menu>
  );
}
