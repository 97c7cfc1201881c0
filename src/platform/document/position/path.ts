/** Where a value stands in a document: keys of maps and indexes of lists, from the top. */
export type Path = readonly (string | number)[];

/** As in `pipeline.stages[0].stage.spec`. Keys that would read ambiguously are quoted: `tags["a.b"]`. */
export function pathText(path: Path): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (!/^[A-Za-z_$<][\w$<-]*$/.test(part)) text += `[${JSON.stringify(clip(part))}]`;
    else text += text === "" ? clip(part) : `.${clip(part)}`;
  }
  return text;
}

const CLIP = 80;

/** Text from outside, short enough to be repeated in a message. */
export const clip = (text: string): string => (text.length <= CLIP ? text : `${text.slice(0, CLIP).toWellFormed()}…`);
