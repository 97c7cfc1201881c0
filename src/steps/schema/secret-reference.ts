import { referred } from "../../core/reference.ts";

/** Any place stands for the one that a plain reference leads to. */
const ANYWHERE = { orgIdentifier: "o", projectIdentifier: "p" };

/** What a variable of the type Secret holds. */
export const isReference = (text: string): boolean => referred(text, ANYWHERE) !== undefined;
