/** Controls, and marks that change the direction of the text around them or have no width. */
const INVISIBLE =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u2069\uFEFF\uFFF9-\uFFFB]/g;

/** Shows characters that could make a name look like another one: U+202E becomes `<202E>`. */
export const visibleText = (text: string): string =>
  text.replaceAll(INVISIBLE, (character) => `<${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);
