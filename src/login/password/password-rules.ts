/** Rules for chosen passwords: long, and not among the first guesses (NIST SP 800-63B, 5.1.1.2). */
import { COMMON } from "./common-passwords.ts";

export const SHORTEST = 12;
export const LONGEST = 200;

type Person = { readonly email: string; readonly name: string };

/** Why the password is refused, as the end of "The new password …". Undefined if it is accepted. */
export function passwordFault(password: string, person: Person): string | undefined {
  const length = Array.from(password.normalize("NFC")).length;
  if (length < SHORTEST) return `has ${length} characters; it takes at least ${SHORTEST}`;
  if (length > LONGEST) return `has more than ${LONGEST} characters`;
  const text = password.normalize("NFKC").toLowerCase();
  if (names(person).some((name) => text.includes(name) && text.length - name.length < SHORTEST / 2))
    return "is hardly more than your name or e-mail";
  if (isMonotonous(text)) return "repeats itself, or counts along";
  if (isCommon(text)) return "is among those that are tried first";
  return undefined;
}

const names = ({ email, name }: Person): readonly string[] =>
  [email, email.split("@")[0] ?? "", name, "railhead"].map((one) => one.toLowerCase()).filter((one) => one.length >= 4);

/** `aaaaaaaaaaaa`, `abcabcabcabc`, `123456789012`, `abcdefghijklm`. */
function isMonotonous(text: string): boolean {
  for (let period = 1; period <= 4; period += 1)
    if (
      text ===
      text
        .slice(0, period)
        .repeat(Math.ceil(text.length / period))
        .slice(0, text.length)
    )
      return true;
  return ["0123456789012345678901234567890", "abcdefghijklmnopqrstuvwxyz", "qwertyuiopasdfghjklzxcvbnm"].some(
    (row) => row.includes(text) || row.split("").toReversed().join("").includes(text),
  );
}

const LEET: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
  "!": "i",
};

/** A common word with digits and signs around it, or several in a row, also with digits for letters. */
function isCommon(text: string): boolean {
  const trimmed = text.replace(/^[\d\W_]+|[\d\W_]+$/g, "");
  const letters = trimmed.replace(/[013457@$!]/g, (sign) => LEET[sign] ?? sign).replace(/[^a-z]/g, "");
  if (letters.length < text.length / 2) return COMMON.some((word) => text.includes(word) && /\d/.test(word));
  return isMadeOf(letters);
}

/** Whether the text consists of words of the list only. Each position is checked once. */
function isMadeOf(text: string): boolean {
  const reached = new Set([0]);
  for (const at of reached) for (const word of COMMON) if (text.startsWith(word, at)) reached.add(at + word.length);
  return reached.has(text.length);
}
