/** A fault that only the operator can mend (EX_CONFIG of sysexits.h): a supervisor need not start the program again. */
export const EXIT_CONFIG = 78;

/** What is wrong with the configuration, for the operator: one line for each value. */
export class ConfigError extends Error {
  readonly faults: readonly string[];
  /** `EXIT_CONFIG`, or 1 for a fault that may pass, such as a port in use. */
  readonly exitCode: number;

  constructor(faults: readonly string[], { mayPass = false }: { readonly mayPass?: boolean } = {}) {
    super(`The configuration is wrong:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`);
    this.faults = faults;
    this.exitCode = mayPass ? 1 : EXIT_CONFIG;
  }
}
