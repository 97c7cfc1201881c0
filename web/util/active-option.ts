type Selectable = { readonly disabled?: boolean };

/** The option that a key moves to, past disabled ones and around the ends. Undefined for other keys. */
export function moveActive(key: string, active: number, options: readonly Selectable[]): number | undefined {
  const last = options.length - 1;
  switch (key) {
    case "ArrowDown":
      return search(options, active < 0 || active >= last ? 0 : active + 1, 1);
    case "ArrowUp":
      return search(options, active <= 0 ? last : active - 1, -1);
    case "Home":
      return search(options, 0, 1);
    case "End":
      return search(options, last, -1);
    default:
      return undefined;
  }
}

function search(options: readonly Selectable[], from: number, step: 1 | -1): number {
  const count = options.length;
  for (let tried = 0; tried < count; tried += 1) {
    const index = (from + step * tried + count) % count;
    if (options[index]?.disabled !== true) return index;
  }
  return -1;
}
