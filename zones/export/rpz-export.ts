// Exports the response rules of a configuration as records of a response policy zone.
import type { ResponseRuleModel } from '#bundle/format/model.ts'
import { enclosingNames } from '#dns/enclosing-names.ts'
import { parseName } from '#dns/name.ts'
import { parseRdata, rdataTypeNamed } from '#dns/rdata/rdata-types.ts'
import type { ZoneRecord } from '#dns/zone-file/zone-record.ts'
import { assert } from '#lib/assert.ts'

interface RpzExport {
  readonly records: readonly ZoneRecord[]
  /** Sentences on what the file cannot express. */
  readonly remarks: readonly string[]
}

/** TTL of answers by a rule. */
const ttlSeconds = 60

/** @param origin name of the policy zone, with its final dot */
export function exportRpz(
  rules: readonly ResponseRuleModel[],
  origin: string,
  serial: number,
): RpzExport {
  const soa = `localhost. hostmaster.localhost. ${serial} 3600 600 604800 60`
  const records = [record(origin, 'SOA', soa), record(origin, 'NS', 'localhost.')]
  const signed = rules.filter((rule) => rule.signed)
  const remarks = signed.length === 0 ? [] : [unsigned(signed)]
  for (const { owner, rule } of ownersOf(rules)) {
    const to = { nxdomain: '.', passthru: 'rpz-passthru.', cname: rule.target }[rule.action]
    const name = `${owner}${origin === '.' ? '' : origin}`
    if (!parseName(name).ok) {
      remarks.push(`${owner} is too long below ${origin}; choose a shorter --origin`)
    } else if (owner === to) {
      remarks.push(`${owner} is made an alias of itself; readers take that for passthru`)
    } else records.push(record(name, 'CNAME', to))
  }
  return { records, remarks }
}

/** No record of a policy zone says so, and no reader of one signs what it answers. */
function unsigned(rules: readonly ResponseRuleModel[]): string {
  const names = rules.slice(0, namesShown).map(({ trigger }) => trigger)
  const more = rules.length > namesShown ? ` and ${rules.length - namesShown} more` : ''
  return (
    `${names.join(', ')}${more}: "signed: true" has no place in a policy zone; what reads the ` +
    'file answers without signatures'
  )
}

const namesShown = 5

interface Owner {
  readonly owner: string
  readonly rule: ResponseRuleModel
}

/**
 * In a zone, an existing name or an ancestor of one ends the wildcards above (RFC 4592 section
 * 4.4), but a domain rule applies below them. So each such name gets the rule that applies to it,
 * and its own wildcard.
 */
function ownersOf(rules: readonly ResponseRuleModel[]): readonly Owner[] {
  const exact = new Map<string, ResponseRuleModel>()
  const domain = new Map<string, ResponseRuleModel>()
  const names = new Set<string>()
  for (const rule of rules) {
    const { trigger, triggerType } = rule
    ;(triggerType === 'exact' ? exact : domain).set(trigger, rule)
    for (const name of [trigger, ...enclosingNames(trigger)]) names.add(name)
  }
  return [...names].flatMap((name) => {
    const around = [name, ...enclosingNames(name)].find((one) => domain.has(one))
    const below = around === undefined ? undefined : domain.get(around)
    const own = exact.get(name) ?? below
    return [
      ...(own === undefined ? [] : [{ owner: name, rule: own }]),
      ...(below === undefined ? [] : [{ owner: `*.${name}`, rule: below }]),
    ]
  })
}

function record(name: string, typeName: string, text: string): ZoneRecord {
  const owner = parseName(name)
  const type = rdataTypeNamed(typeName)
  assert(owner.ok && type !== undefined, 'the name was looked at, and the type is known')
  const rdata = parseRdata(type, text)
  assert(rdata.ok, 'the compiler has checked the target')
  return { owner: owner.value, ttl: ttlSeconds, type: type.code, rdata: rdata.value }
}
