// Computes a mark of a zone's content: a zone with the same mark has not changed, so its records
// need not be printed.
import { createHash } from 'node:crypto'
import type { Bundle } from '#bundle/format/bundle.ts'
import { parseName } from '#dns/name.ts'
import { assert } from '#lib/assert.ts'
import type { WrittenName, WrittenRecords } from '#zones/dynamic/written-records.ts'
import { mirroredZone } from '#zones/export/mirrored-zone.ts'

interface ZoneMarkParts {
  /** Absolute, in lower case. */
  readonly zone: string
  /** False: names of services are left out. */
  readonly hasServices: boolean
  /** undefined: no configuration is active yet. */
  readonly bundle: () => Bundle | undefined
  readonly written: Pick<WrittenRecords, 'names' | 'find' | 'revision'>
}

/** @returns a text that is another one where the zone may have changed; health changes nothing */
export function createZoneMark({
  zone,
  hasServices,
  bundle,
  written,
}: ZoneMarkParts): () => string {
  const apex = parseName(zone)
  assert(apex.ok, 'a zone to be marked has a name')
  const declared = { commit: '', mark: '' }
  const atRunTime = { revision: -1, mark: '' }
  const marks = new WrittenMarks(zone)
  return () => {
    const active = bundle()
    if (active === undefined) return ''
    if (active.digest !== declared.commit) {
      const records = mirroredZone(active, apex.value, { hasServices, written: [] })
      Object.assign(declared, { commit: active.digest, mark: digestOf(records) })
    }
    if (written.revision !== atRunTime.revision) {
      const { revision } = written
      Object.assign(atRunTime, { revision, mark: marks.of(written) })
    }
    return `${declared.mark} ${atRunTime.mark}`
  }
}

function digestOf(records: ReturnType<typeof mirroredZone>): string {
  if (records === undefined) return 'none'
  const hash = createHash('sha256')
  const head = Buffer.alloc(8)
  for (const { owner, type, ttl, rdata } of records) {
    head.writeUInt16BE(type)
    head.writeUInt16BE(rdata.length, 2)
    head.writeUInt32BE(ttl, 4)
    hash.update(owner).update(head).update(rdata)
  }
  return hash.digest('base64')
}

/**
 * The records of a name are another object once they have changed. Each new one gets a number that
 * is higher than all before, so that as many names with the same sum are the same ones.
 */
class WrittenMarks {
  readonly #zone: string
  readonly #below: string
  readonly #numbers = new WeakMap<WrittenName, number>()
  #last = 0

  constructor(zone: string) {
    this.#zone = zone
    this.#below = zone === '.' ? zone : `.${zone}`
  }

  of(written: ZoneMarkParts['written']): string {
    let count = 0
    let sum = 0
    for (const name of written.names()) {
      if (name !== this.#zone && !name.endsWith(this.#below)) continue
      const found = written.find(name)
      if (found === undefined) continue
      count++
      sum += this.#numberOf(found)
    }
    return `${count} ${sum}`
  }

  #numberOf(found: WrittenName): number {
    const known = this.#numbers.get(found)
    if (known !== undefined) return known
    this.#numbers.set(found, ++this.#last)
    return this.#last
  }
}
