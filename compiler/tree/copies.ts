// Tells the copy from the original, of two files that declare the same object.
import type { Entry } from './tree.ts'

/** What people and file managers call a copy. */
const copySuffix = /(?:^|[-_. (])(?:copy|copie|kopie|backup|bak|old|orig|new|neu|tmp|\d+)\)?$/i

/** @returns the copy and the original; where nobody can tell, the first of the two is older */
export function copyAndOriginal(first: Entry, second: Entry): readonly [Entry, Entry] {
  return likeness(second) > likeness(first) ? [first, second] : [second, first]
}

/** How much a file looks like the one that the object was made in. */
function likeness({ path, object }: Entry): number {
  const stem = path.slice(path.lastIndexOf('/') + 1).replace(/\.ya?ml$/, '')
  if (stem === object.metadata.name) return 2
  return copySuffix.test(stem) ? 0 : 1
}
