import { formatBytes } from "../util/bytes.ts";

/** A rounded size; the exact one is its title. */
export function Bytes({ bytes }: { readonly bytes: number }) {
  return (
    <data value={bytes} title={`${bytes.toLocaleString("en-GB")} bytes`}>
      {formatBytes(bytes)}
    </data>
  );
}
