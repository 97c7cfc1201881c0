/** How a launcher is started. `version` changes when the command has to be another one. */
export type LauncherCommand = {
  readonly version: string;
  /**
   * The program and its arguments, which end with main.ts and what it takes, for one process. `release`: it has ended.
   */
  readonly allocate: () => { readonly argv: readonly string[]; readonly release: () => void };
};
