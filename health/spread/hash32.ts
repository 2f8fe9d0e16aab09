// Computes a 32-bit hash that spreads names evenly, equal on every machine. It resists no attacker.

/** FNV-1a with a final mix, so that similar names get distant hashes. */
export function hash32(text: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  return mix32(h)
}

/** The finalizer of MurmurHash3: one to one, and each input bit flips half of the output bits. */
export function mix32(hash: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
