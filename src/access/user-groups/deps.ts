import type { KeepAdministrator } from "../administrators/keep-administrator.ts";
import type { WriteDeps } from "../deps.ts";

export type GroupDeps = WriteDeps & { readonly keepAdministrator: KeepAdministrator };
