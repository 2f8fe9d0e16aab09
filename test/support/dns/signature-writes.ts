// Counts the signatures that were made for a node: what its threads have written into their table.
import { Slot } from '#answer/signing/signature-table.ts'

const headWords = 8

/**
 * @param memory of all threads
 * @returns how often a signature was written
 */
export function signatureWrites(memory: SharedArrayBuffer): number {
  const words = new Int32Array(memory)
  let sum = 0
  // A version grows by two with each.
  for (let at = headWords; at < words.length; at += Slot.Words) sum += words[at]! >>> 1
  return sum
}
