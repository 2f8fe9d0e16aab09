// TXT records that were written at run time, as they were at an instant: for the answer path, and
// for people.
import type { Bundle } from '#bundle/format/bundle.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import type { HandedBundle } from '#answer/serving-view.ts'
import { encodeTxtBundle } from '#zones/dynamic/txt-bundle.ts'
import { txtSnapshot } from '#zones/dynamic/txt-snapshot.ts'
import type { TextsThen, Then } from '#journal/sides/sides-then.ts'
import { textsThen } from '#journal/sides/sides-then.ts'
import type { Moment } from '#journal/moment.ts'

/** One that had a part in an answer. */
export interface PastText {
  /** Owner of the record; a wildcard may stand for the name that was asked for. */
  readonly name: string
  /** As zone files write it. */
  readonly value: string
  readonly ttl: number
  /** Whose it was; '': not known. */
  readonly tenantId: string
  /** `key:` and the name of a TSIG key, or the actor of a call of the API; '': not known. */
  readonly writtenBy: string
  /** ISO 8601; '': not known. */
  readonly writtenAt: string
}

export interface HandedTexts {
  readonly then: Then<TextsThen>
  readonly handed: HandedBundle | null
}

/** As the node encoded them for this bundle. */
export function handedTexts(moment: Moment, bundle: Bundle): HandedTexts {
  const then = textsThen(moment.texts)
  if (then.kind === 'unkept' || then.value.length === 0) return { then, handed: null }
  return { then, handed: encodeTxtBundle(txtSnapshot(1, then.value).records, bundle).handed }
}

/** The records at one name. */
export function pastTexts({ then }: HandedTexts, owner: string): readonly PastText[] {
  if (then.kind === 'unkept') return []
  return then.value.flatMap(({ name, rdata, ttlSeconds, tenantId, writtenBy, createdAtMs }) => {
    if (name !== owner) return []
    const value = rdataTypeOf(RrType.TXT).print(Buffer.from(rdata, 'base64'))
    const writtenAt = createdAtMs === 0 ? '' : timeText(createdAtMs)
    return [{ name, value, ttl: ttlSeconds, tenantId, writtenBy, writtenAt }]
  })
}

function timeText(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
