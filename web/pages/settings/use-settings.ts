import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { fetchData } from "../../api/client.ts";
import { settingList, settingUpdate, type Setting, type SettingBody } from "../../api/operations.gen.ts";
import type { Scope } from "../../api/permissions.ts";

export const CATEGORIES = ["CORE", "PMS"] as const;

/** What was typed and is not saved yet. */
export type Draft = { readonly value: string; readonly allowOverrides: boolean };
type ByIdentifier<T> = ReadonlyMap<string, T>;

/** The settings of a scope, with what was changed on the page. */
export function useSettings(scope: Scope) {
  const queryClient = useQueryClient();
  const [drafts, setDrafts] = useState<ByIdentifier<Draft>>(new Map());
  const [refusals, setRefusals] = useState<ByIdentifier<string>>(new Map());
  const list = useQuery({
    queryKey: [settingList.id, scope],
    queryFn: async ({ signal }) => {
      const found = await Promise.all(
        CATEGORIES.map((category) => fetchData(settingList, { query: { ...scope, category } }, { signal })),
      );
      return found.flat().map(({ setting }) => setting);
    },
  });
  /** Each change has a result of its own: those that are refused stay on the page with the reason. */
  const update = useMutation({
    mutationFn: (changes: SettingBody) => fetchData(settingUpdate, { query: scope, body: changes }),
    onSuccess: async (outcomes) => {
      await queryClient.invalidateQueries({ queryKey: [settingList.id] });
      const saved = new Set(outcomes.flatMap((one) => (one.updateStatus ? [one.identifier] : [])));
      setDrafts((former) => new Map([...former].filter(([identifier]) => !saved.has(identifier))));
      setRefusals(
        new Map(outcomes.flatMap((one) => (one.updateStatus ? [] : [[one.identifier, reasonOf(one)] as const]))),
      );
    },
  });
  const edit = (setting: Setting, draft: Draft): void => {
    const isSame = draft.value === setting.value && draft.allowOverrides === setting.allowOverrides;
    setDrafts((former) => {
      const others = new Map([...former].filter(([identifier]) => identifier !== setting.identifier));
      return isSame ? others : others.set(setting.identifier, draft);
    });
    setRefusals((former) => new Map([...former].filter(([identifier]) => identifier !== setting.identifier)));
  };
  const discard = (): void => {
    setDrafts(new Map());
    setRefusals(new Map());
    update.reset();
  };
  return { list, drafts, refusals, update, edit, discard };
}

/** The message begins with the identifier, which the page does not show. */
const reasonOf = ({
  identifier,
  errorMessage,
}: {
  readonly identifier: string;
  readonly errorMessage: string | null;
}) => (errorMessage ?? "It was refused.").replace(`${identifier} `, "It ");

export const changesOf = (drafts: ByIdentifier<Draft>): SettingBody =>
  [...drafts].map(([identifier, draft]) => ({ identifier, ...draft, updateType: "UPDATE" }));
