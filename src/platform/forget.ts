/**
 * Overwrites what a buffer holds, and gives its memory back at once when the buffer is all there is of it. Left to
 * itself V8 collects such memory after some sixty megabytes only: five times what a large file is. Every view of it
 * is empty afterwards.
 */
export function forget(buffer: Buffer): void {
  buffer.fill(0);
  const { buffer: memory, byteLength } = buffer;
  // A smaller one may be a part of the pool that Node cuts buffers from.
  if (memory instanceof ArrayBuffer && memory.byteLength === byteLength) memory.transfer(0);
}
