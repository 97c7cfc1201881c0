/** Characters of a text that may hold expressions. */
export const MAX_TEMPLATE_CHARS = 1024 * 1024;
/** Characters between one `<+` and its `>`. */
export const MAX_EXPRESSION_CHARS = 16 * 1024;
/** Brackets, nested expressions and ternaries inside each other. */
export const MAX_NESTING = 32;
/** Names, literals, operators and calls of one expression; bounds the depth of the tree too. */
export const MAX_TERMS = 1000;
/** Units of work that one template may cost: one for each term, one for every 64 characters made. */
export const MAX_WORK = 100_000;
/** UTF-8 bytes of the value of an expression, of every value on the way to it, and of the whole filled text. */
export const MAX_RESULT_BYTES = 256 * 1024;
/** UTF-8 bytes of the evaluated variables of one execution together, and of the environment of one step. */
export const MAX_TOTAL_BYTES = 1024 * 1024;
/** Units of work that these may cost together. */
export const MAX_TOTAL_WORK = 1_000_000;
/** The same of all texts that one event of an execution evaluates: while it is computed, nothing else is. */
export const MAX_EVENT_BYTES = 64 * 1024 * 1024;
export const MAX_EVENT_WORK = 2_000_000;
/** Items of a list that a function makes. */
export const MAX_ITEMS = 10_000;
/** Elements or brackets inside each other in a JSON or XML text. */
export const MAX_DOCUMENT_DEPTH = 64;
/** Characters of a JSON or XML path. */
export const MAX_PATH_CHARS = 512;
/** Characters of a regular expression. */
export const MAX_PATTERN_CHARS = 512;
/** The largest count that a regular expression may have, as in `a{1000}`. */
export const MAX_PATTERN_REPEATS = 1000;
/** Groups of a regular expression whose text is kept. */
export const MAX_PATTERN_GROUPS = 20;
/** Instructions that a regular expression may become, with its counts written out. */
export const MAX_PATTERN_SIZE = 2000;
/** Faults that one check reports; the rest would say the same. */
export const MAX_FAULTS = 50;
