/** How the log is shown. The address has it. */
export type LogView = {
  /** The text that is searched for. */
  readonly q?: string;
  readonly wrap?: true;
  readonly times?: true;
};

export function withFlag(view: LogView, flag: "wrap" | "times", isOn: boolean): LogView {
  const { [flag]: _, ...others } = view;
  return isOn ? { ...others, [flag]: true } : others;
}

export const withQuery = ({ q: _, ...others }: LogView, q: string): LogView => (q === "" ? others : { ...others, q });
