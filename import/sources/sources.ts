// The table of import sources. A new source needs one file and one row here.
import { cloudflareSource } from './cloudflare.ts'
import type { ImportSource } from './imported.ts'
import { octodnsSource } from './octodns.ts'
import { route53Source } from './route53.ts'
import { rpzSource } from './rpz.ts'
import { zoneFileSource } from './zone-file.ts'

export const importSources: readonly ImportSource[] = Object.freeze([
  zoneFileSource,
  octodnsSource,
  route53Source,
  cloudflareSource,
  rpzSource,
])
