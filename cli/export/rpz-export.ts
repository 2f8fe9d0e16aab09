// The response rules of a configuration as the records of a response policy zone.
import type { ResponseRuleModel } from '#bundle/format/model.ts'
import { parseName } from '#dns/name.ts'
import { parseRdata, rdataTypeNamed } from '#dns/rdata/rdata-types.ts'
import type { ZoneRecord } from '#dns/zone-file/zone-record.ts'
import { assert } from '#lib/assert.ts'

export interface RpzExport {
  readonly records: readonly ZoneRecord[]
  /** Sentences on what the file cannot say. */
  readonly remarks: readonly string[]
}

/** As an answer by a rule has it. */
const ttlSeconds = 60

/** @param origin name of the policy zone, with its final dot */
export function exportRpz(
  rules: readonly ResponseRuleModel[],
  origin: string,
  serial: number,
): RpzExport {
  const soa = `localhost. hostmaster.localhost. ${serial} 3600 600 604800 60`
  const records = [record(origin, 'SOA', soa), record(origin, 'NS', 'localhost.')]
  const remarks: string[] = []
  const exact = new Set<string>()
  for (const { triggerType, trigger } of rules) if (triggerType === 'exact') exact.add(trigger)
  for (const { triggerType, trigger, action, target } of rules) {
    // Of a domain its own name, too, unless that has a rule of its own.
    const isOwn = triggerType === 'exact' || !exact.has(trigger)
    const owners = [
      ...(isOwn ? [trigger] : []),
      ...(triggerType === 'domain' ? [`*.${trigger}`] : []),
    ]
    const to = { nxdomain: '.', passthru: 'rpz-passthru.', cname: target }[action]
    for (const owner of owners) {
      const name = `${owner}${origin === '.' ? '' : origin}`
      if (parseName(name).ok) records.push(record(name, 'CNAME', to))
      else remarks.push(`${owner} is too long below ${origin}; choose a shorter --origin`)
    }
  }
  return { records, remarks }
}

function record(name: string, typeName: string, text: string): ZoneRecord {
  const owner = parseName(name)
  const type = rdataTypeNamed(typeName)
  assert(owner.ok && type !== undefined, 'the name was looked at, and the type is known')
  const rdata = parseRdata(type, text)
  assert(rdata.ok, 'the compiler has checked the target')
  return { owner: owner.value, ttl: ttlSeconds, type: type.code, rdata: rdata.value }
}
