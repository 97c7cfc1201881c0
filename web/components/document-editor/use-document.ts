import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { isStaleVersion } from "../../api/api-error.ts";
import { readDraft, removeDraft, writeDraft, type Draft } from "./drafts.ts";

export type StoredDocument = {
  readonly text: string;
  /** Undefined for one that is not saved yet. */
  readonly etag: string | undefined;
};

type DocumentOptions = {
  readonly stored: StoredDocument;
  /** Names the draft; different for each document. */
  readonly draftKey: string;
  /** Saves the text over the version of `etag`. */
  readonly save: (text: string, etag: string | undefined) => Promise<unknown>;
  /** Reads what another person has saved meanwhile. */
  readonly load: () => Promise<StoredDocument>;
  readonly onSaved: (text: string) => void;
};

export type DocumentState = {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly isChanged: boolean;
  /** What an earlier visit left unsaved. */
  readonly draft: Draft | undefined;
  readonly restoreDraft: () => void;
  readonly discardDraft: () => void;
  readonly save: () => void;
  readonly isSaving: boolean;
  readonly error: Error | null;
  /** What another person has saved since the text was read. */
  readonly conflict: StoredDocument | undefined;
  readonly takeTheirs: () => void;
  readonly overwrite: () => void;
  readonly closeConflict: () => void;
};

/** Each save adds one to the version that the ETag names (docs/api/pipelines.md). */
export function nextEtag(etag: string | undefined): string {
  return `"${etag === undefined ? 1 : Number(etag.replaceAll('"', "")) + 1}"`;
}

/** A document that is being edited: its text, its draft, and saving without overwriting the work of others. */
export function useDocument({ stored, draftKey, save, load, onSaved }: DocumentOptions): DocumentState {
  const [base, setBase] = useState(stored);
  const [text, setText] = useState(stored.text);
  const [draft, setDraft] = useState(() => offeredDraft(draftKey, stored.text));
  const [conflict, setConflict] = useState<StoredDocument>();
  const isChanged = text !== base.text;
  const saving = useMutation({
    mutationFn: async (etag: string | undefined) => {
      const sent = text;
      try {
        await save(sent, etag);
        return { text: sent, etag: nextEtag(etag) };
      } catch (error) {
        if (!isStaleVersion(error)) throw error;
        setConflict(await load());
        return undefined;
      }
    },
    onSuccess: (saved) => {
      if (saved === undefined) return;
      removeDraft(draftKey);
      setBase(saved);
      setConflict(undefined);
      onSaved(saved.text);
    },
  });
  const change = (next: string): void => {
    setText(next);
    if (next === base.text) removeDraft(draftKey);
    else writeDraft(draftKey, next);
  };
  const start = (etag: string | undefined): void => {
    if (!saving.isPending) saving.mutate(etag);
  };
  const saveNow = (): void => start(base.etag);
  useSaveShortcut(saveNow);
  return {
    text,
    setText: change,
    isChanged,
    draft,
    restoreDraft: () => {
      if (draft) change(draft.text);
      setDraft(undefined);
    },
    discardDraft: () => {
      if (!isChanged) removeDraft(draftKey);
      setDraft(undefined);
    },
    save: saveNow,
    isSaving: saving.isPending,
    error: saving.error,
    conflict,
    takeTheirs: () => {
      if (!conflict) return;
      setBase(conflict);
      setText(conflict.text);
      removeDraft(draftKey);
      setConflict(undefined);
    },
    overwrite: () => start(conflict?.etag),
    closeConflict: () => setConflict(undefined),
  };
}

function offeredDraft(key: string, text: string): Draft | undefined {
  const draft = readDraft(key);
  return draft?.text === text ? undefined : draft;
}

function useSaveShortcut(save: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      event.preventDefault();
      save();
    };
    globalThis.addEventListener("keydown", onKeyDown);
    return () => globalThis.removeEventListener("keydown", onKeyDown);
  });
}
