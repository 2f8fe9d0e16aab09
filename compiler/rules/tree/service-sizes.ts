// Points out services with more addresses of a family than a DNS message holds. Nodes answer a few
// of them; a secondary server gets all, and cannot answer them.
import { valueAt } from '#diagnostics/diagnostic.ts'
import { memberAddresses } from '#compiler/lower/routing-facts.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry } from '#compiler/tree/tree.ts'
import type { TreeRule } from './tree-rule.ts'

/** RFC 1035 section 4.2.2: the length before a message over TCP has two octets. */
const messageBytesMax = 65_535
/** The header, type and class of the question, and an OPT record without options. */
const messageBytesBesides = 12 + 4 + 11
/** Octets of a record without its rdata, with its owner name compressed. */
const recordBytes = 12

interface Family {
  readonly type: string
  readonly count: number
  readonly bytes: number
}

export const serviceSizes: TreeRule = {
  name: 'service-sizes',
  check({ tree }, report) {
    const known = new Map<Entry<'Pool'>, readonly Family[]>()
    for (const entry of tree.of.Service) {
      const { spec } = entry.object
      const { domainKey } = entry.file
      const pool = spec.pool === null ? undefined : tree.poolNamed.get(spec.pool)
      if (domainKey === undefined || pool?.tenant !== entry.tenant) continue
      if (pool.object.spec.members.length < membersMin) continue
      const families = known.get(pool) ?? familiesOf(pool)
      known.set(pool, families)
      for (const { type, count, bytes } of families) {
        // The name in wire form has one octet more than its text.
        const all = messageBytesBesides + domainKey.length + 1 + bytes
        if (all <= messageBytesMax) continue
        const args = [String(count), type, domainKey, String(all), String(messageBytesMax)]
        report('service-too-large', placeIn(entry, valueAt('spec', 'pool')), { args })
      }
    }
  },
}

/** With fewer, the longest name and the larger family fit. */
const membersMin = 2_000

/** What a transfer shows: each address of enabled members once. */
function familiesOf(pool: Entry<'Pool'>): readonly Family[] {
  const { answer, members } = pool.object.spec
  if (answer === 'cname') return []
  const addresses = memberAddresses(pool).filter((_, i) => {
    const { enabled, ipAddress } = members[i]!
    return enabled && ipAddress !== ''
  })
  const distinct = [...new Set(addresses)]
  const count6 = distinct.filter((address) => address.includes(':')).length
  return [familyOf('A', 4, distinct.length - count6), familyOf('AAAA', 16, count6)]
}

const familyOf = (type: string, addressBytes: number, count: number): Family => ({
  ...{ type, count },
  bytes: count * (recordBytes + addressBytes),
})
