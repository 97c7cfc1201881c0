import { useRef, useState } from "react";
import { Bytes } from "../../../ui/bytes.tsx";
import { Button } from "../../../ui/button.tsx";
import styles from "./file-drop.module.css";

type FileDropProps = { readonly file: File | undefined; readonly onFile: (file: File) => void };

/** A place to drop a file on, with a button that does the same by keyboard. */
export function FileDrop({ file, onFile }: FileDropProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const take = (files: FileList | null): void => {
    const first = files?.[0];
    if (first) onFile(first);
  };
  return (
    <div
      className={styles.drop}
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer.files);
      }}
    >
      <input
        ref={input}
        type="file"
        className={styles.input}
        aria-label="File"
        onChange={(event) => take(event.target.files)}
      />
      <Button icon="upload" onClick={() => input.current?.click()}>
        Choose a file
      </Button>
      <span className={styles.text}>
        {file === undefined ? (
          "or drop it here. Its content is sealed, and never shown."
        ) : (
          <>
            {file.name}, <Bytes bytes={file.size} />
          </>
        )}
      </span>
    </div>
  );
}
