/** The mark of the product. Text beside it has the name. */
export function Rails() {
  return (
    <svg
      width="18"
      height="18"
      viewBox="0 0 32 32"
      fill="none"
      stroke="currentColor"
      strokeWidth="3"
      strokeLinecap="round"
      aria-hidden
    >
      <path d="M9 3 5 29M23 3l4 26M8 9h16M7 16h18M6 23h20" />
    </svg>
  );
}
