/** Identifiers and names as clients of this API family write them. Case-sensitive, immutable, unique in their scope. */

/** Pipelines, stages, steps, triggers, variables. */
export const ENTITY_IDENTIFIER = /^[a-zA-Z_][0-9a-zA-Z_]{0,127}$/;
/** Organizations, projects, connectors: `$` is allowed too. */
export const SCOPE_IDENTIFIER = /^[a-zA-Z_][0-9a-zA-Z_$]{0,127}$/;
/** Secrets: hyphens too. */
export const SECRET_IDENTIFIER = /^[a-zA-Z_][0-9a-zA-Z_$-]{0,127}$/;
/** The only white space is the space character: a line break in a name would break lines in logs, mails and shells. */
export const NAME = /^[a-zA-Z_0-9-.][-0-9a-zA-Z_ .]{0,127}$/;
/** Variables: dots, `$` and hyphens are allowed too. */
export const VARIABLE_NAME = /^[a-zA-Z_][0-9a-zA-Z_.$-]{0,127}$/;

const RESERVED = new Set(
  "or and eq ne lt gt le ge div mod not null true false new var return step parallel stepGroup org account status liteEngineTask".split(
    " ",
  ),
);

/** Whether expressions reserve the word; identifiers must not use it. */
export const isReserved = (identifier: string): boolean => RESERVED.has(identifier);
