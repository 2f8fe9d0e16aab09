// Says where in a data directory the journal of a node is.
import { join } from 'node:path'

export function journalDirectory(dataDir: string): string {
  return join(dataDir, 'journal')
}
