// The table of what can be imported. A new source is one file and one row here.
import type { ImportSource } from './imported.ts'
import { zoneFileSource } from './zone-file.ts'

export const importSources: readonly ImportSource[] = Object.freeze([zoneFileSource])
