import { useEffect, useState } from "react";
import { Button, IconButton } from "./button.tsx";
import { VisuallyHidden } from "./visually-hidden.tsx";

type CopyButtonProps = {
  readonly text: string;
  /** The accessible name of the icon: Copy the token */
  readonly label: string;
  /** Stands beside the icon, and is the name then. */
  readonly children?: string | undefined;
  readonly size?: "small" | "normal" | undefined;
};

const SHOWN_MS = 1_500;

/** Puts a text into the clipboard, and says so for a moment. */
export function CopyButton({ text, label, children, size = "small" }: CopyButtonProps) {
  const [result, setResult] = useState<"copied" | "refused">();
  useEffect(() => {
    if (result === undefined) return undefined;
    const timer = setTimeout(() => setResult(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [result]);
  const copy = (): void => {
    copyText(text).then(
      () => setResult("copied"),
      () => setResult("refused"),
    );
  };
  const icon = result === "copied" ? "check" : result === "refused" ? "error" : "copy";
  const said = result === "copied" ? "Copied" : result === "refused" ? "The browser did not allow copying" : "";
  return (
    <>
      {children === undefined ? (
        <IconButton icon={icon} label={label} size={size} onClick={copy} />
      ) : (
        <Button icon={icon} title={label} size={size} onClick={copy}>
          {children}
        </Button>
      )}
      <span role="status">
        <VisuallyHidden>{said}</VisuallyHidden>
      </span>
    </>
  );
}

/** Rejects if the browser does not allow it, as on pages without TLS. */
export async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}
