import { visibleText } from "./visible-text.ts";

/** Escape sequences of terminals: CSI, OSC with its text, and those of two characters. */
const ESCAPES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-Z\\-_])/g;

/** Output as plain text: without colours, and with what a carriage return leaves of a line. */
export const plainLog = (text: string): string =>
  text
    .replaceAll(ESCAPES, "")
    .split("\n")
    .map((line) => visibleText(line.replace(/\r+$/, "").replace(/^[^]*\r/, "")))
    .join("\n");
