import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { dataQuery, fetchData, type DataOf } from "../../../api/client.ts";
import { settingCheckScimJwt, settingList, settingUpdate } from "../../../api/operations.gen.ts";

export type ScimCheck = DataOf<typeof settingCheckScimJwt>;

const PREFIX = "scim_jwt_token_";
/** The settings by the names that the page gives them. */
const SETTINGS = {
  url: `${PREFIX}jwks_keys_url`,
  claim: `${PREFIX}key_field`,
  value: `${PREFIX}value_field`,
  serviceAccount: `${PREFIX}service_account_id`,
} as const;

export type ScimField = keyof typeof SETTINGS;
export type ScimFields = Readonly<Record<ScimField, string>>;
const FIELDS = Object.keys(SETTINGS) as readonly ScimField[];
export const SETTING_COUNT = FIELDS.length;

/** How the page calls the setting. */
export const LABELS: ScimFields = {
  url: "Address of the key set",
  claim: "Claim",
  value: "Value of the claim",
  serviceAccount: "Service account",
};

export const fieldOf = (identifier: string): ScimField | undefined =>
  FIELDS.find((field) => SETTINGS[field] === identifier);

/** The four settings, with what was typed; the API refuses each with a reason of its own. */
export function useScimSettings() {
  const queryClient = useQueryClient();
  const [typed, setTyped] = useState<Partial<ScimFields>>({});
  const list = useQuery(dataQuery(settingList, { query: { category: "CORE", group: "scim" } }));
  const saved = Object.fromEntries(
    FIELDS.map((field) => [
      field,
      list.data?.find(({ setting }) => setting.identifier === SETTINGS[field])?.setting.value ?? "",
    ]),
  ) as ScimFields;
  const fields: ScimFields = { ...saved, ...typed };
  const changed = FIELDS.filter((field) => fields[field].trim() !== saved[field]);
  const save = useMutation({
    mutationFn: () =>
      fetchData(settingUpdate, {
        body: changed.map((field) => {
          const value = fields[field].trim();
          const identifier = SETTINGS[field];
          // The API takes no empty value: without one the setting returns to its default.
          return value === ""
            ? ({ identifier, updateType: "RESTORE" } as const)
            : ({ identifier, value, updateType: "UPDATE" } as const);
        }),
      }),
    onSuccess: async (outcomes) => {
      await Promise.all([
        queryClient.invalidateQueries({ queryKey: [settingList.id] }),
        queryClient.invalidateQueries({ queryKey: [settingCheckScimJwt.id] }),
      ]);
      const done = outcomes.flatMap((one) => (one.updateStatus ? (fieldOf(one.identifier) ?? []) : []));
      setTyped((former) =>
        Object.fromEntries(Object.entries(former).filter(([key]) => !done.some((one) => one === key))),
      );
    },
  });
  const refusals = new Map(
    (save.data ?? []).flatMap(({ identifier, updateStatus, errorMessage }) => {
      const field = fieldOf(identifier);
      return updateStatus || field === undefined
        ? []
        : [[field, (errorMessage ?? "").replace(identifier, "It")] as const];
    }),
  );
  const edit = (field: ScimField, value: string): void => setTyped((former) => ({ ...former, [field]: value }));
  return { list, fields, saved, changed, save, refusals, edit };
}
