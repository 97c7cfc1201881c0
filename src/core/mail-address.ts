/** E-mail addresses as the mail server takes them. */

/** RFC 5321 section 4.5.3.1.3, without the angle brackets. */
const MAX_ADDRESS = 254;
// Printable ASCII without quotes, comments and separators: nothing in it can end a command or a header.
const ADDRESS =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/;

/** Whether the text is one address without a display name. Domains of other scripts are written in Punycode. */
export const isAddress = (text: string): boolean => text.length <= MAX_ADDRESS && ADDRESS.test(text);

/** The addresses without those that differ from an earlier one only in upper and lower case. */
export function uniqueAddresses(addresses: readonly string[]): readonly string[] {
  const first = new Map<string, string>();
  for (const address of addresses) {
    const key = address.toLowerCase();
    if (!first.has(key)) first.set(key, address);
  }
  return [...first.values()];
}
