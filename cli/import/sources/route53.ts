// Takes over a hosted zone of Route 53: the JSON of `aws route53 list-resource-record-sets`, and
// beside it the HealthChecks of `aws route53 list-health-checks`, if they are in the same object.
import type { ZonePlace } from '#dns/zone-file/zone-record.ts'
import { err, ok } from '#lib/result.ts'
import { countryOfRegion } from './aws-regions.ts'
import { fieldsOf, isFields, listOf, numberOf, readExport, textOf } from './export-document.ts'
import type { Fields } from './export-document.ts'
import type { ImportSource } from './imported.ts'
import { route53HealthCheck } from './route53-health-check.ts'
import { ZoneBuilder, noHostnames } from './zone-builder.ts'
import type { BalancedMember } from './zone-builder.ts'

export const route53Source: ImportSource = {
  name: 'route53',
  says: 'JSON of "aws route53 list-resource-record-sets"',
  read(file, { origin }) {
    const document = readExport(file)
    if (!document.ok) return document
    const { value, placeOf } = document.value
    const list = fieldsOf(value)['ResourceRecordSets']
    if (!Array.isArray(list)) {
      const message =
        'expected the list ResourceRecordSets: "aws route53 list-resource-record-sets"'
      return err([{ ...placeOf([]), message }])
    }
    const sets = list.filter(isFields).map((fields, i): Route53Set => ({
      fields,
      name: decimalEscapes(textOf(fields['Name'])),
      type: textOf(fields['Type']),
      ttl: numberOf(fields['TTL']) ?? aliasTtl,
      values: listOf(fields['ResourceRecords']).map((one) =>
        decimalEscapes(textOf(fieldsOf(one)['Value'])),
      ),
      place: placeOf(['ResourceRecordSets', i]),
    }))
    const builder = new ZoneBuilder()
    takeOver(sets, listOf(fieldsOf(value)['HealthChecks']).map(fieldsOf), builder)
    return ok(builder.result(origin, placeOf([])))
  },
}

interface Route53Set {
  readonly fields: Fields
  readonly name: string
  readonly type: string
  readonly ttl: number
  readonly values: readonly string[]
  readonly place: ZonePlace
}

/** Alias records have none of their own. */
const aliasTtl = 60

/** Route 53 writes octets as `\052`, in octal; zone files mean decimal numbers. */
const decimalEscapes = (text: string): string =>
  text.replace(/\\([0-3][0-7]{2})/g, (_all, digits: string) => {
    return `\\${String(parseInt(digits, 8)).padStart(3, '0')}`
  })

const isAddress = ({ type }: Route53Set): boolean => type === 'A' || type === 'AAAA'
const isBalanced = ({ fields }: Route53Set): boolean => fields['SetIdentifier'] !== undefined

function takeOver(
  sets: readonly Route53Set[],
  checks: readonly Fields[],
  builder: ZoneBuilder,
): void {
  const names = new Map<string, Route53Set[]>()
  for (const set of sets.filter((one) => isAddress(one) && isBalanced(one))) {
    names.set(set.name, [])
  }
  for (const set of sets) {
    const balanced = names.get(set.name)
    if (isAddress(set) && balanced !== undefined) balanced.push(set)
    else if (isBalanced(set)) {
      const label = `${set.name} ${set.type} ${textOf(set.fields['SetIdentifier'])}`
      const text = `${label}: only addresses are balanced; ${noHostnames}`
      builder.note('not mapped', set.place, text)
    } else plainSet(set, builder)
  }
  for (const set of names.values()) balancedName(set, checks, builder)
}

function plainSet({ fields, name, type, ttl, values, place }: Route53Set, builder: ZoneBuilder) {
  const alias = aliasOf(fields)
  if (alias !== undefined) {
    const text = `${name} ${type}: an alias of ${alias}; ${noHostnames} where it is not the apex`
    return builder.note('not mapped', place, text)
  }
  for (const value of values) builder.record({ name, type, ttl, value }, place)
  if (values.length === 0) builder.note('not mapped', place, `${name} ${type}: it has no records`)
}

function aliasOf(fields: Fields): string | undefined {
  const target = fields['AliasTarget']
  return target === undefined ? undefined : textOf(fieldsOf(target)['DNSName'])
}

/** How each way to choose is told from the fields of a set, and what it becomes. */
interface Way {
  readonly field: string
  readonly choice: { readonly algorithm: string; readonly filterChain?: readonly string[] }
  /** @returns what its members get; a sentence where it cannot be said */
  readonly member: (fields: Fields) => Partial<BalancedMember> | string
}

const ways: readonly Way[] = [
  {
    field: 'Weight',
    choice: { algorithm: 'weighted-round-robin' },
    member: ({ Weight }) => ({ weight: numberOf(Weight) ?? 1 }),
  },
  {
    field: 'Failover',
    choice: { algorithm: 'failover' },
    member: ({ Failover }) => ({ priority: Failover === 'PRIMARY' ? 1 : 2 }),
  },
  {
    field: 'Region',
    choice: { algorithm: 'latency' },
    member: ({ Region }) => {
      const region = countryOfRegion[textOf(Region)]
      return region === undefined ? `where is the region ${textOf(Region)}?` : { region }
    },
  },
  {
    field: 'GeoLocation',
    choice: { algorithm: '', filterChain: ['geo-ip'] },
    member: ({ GeoLocation }) => {
      const { ContinentCode, CountryCode, SubdivisionCode } = fieldsOf(GeoLocation)
      if (ContinentCode !== undefined) return { region: `continent:${textOf(ContinentCode)}` }
      if (CountryCode === '*') return {}
      const country = textOf(CountryCode)
      const subdivision = textOf(SubdivisionCode)
      return { region: subdivision === '' ? country : `${country}-${subdivision}` }
    },
  },
  {
    field: 'MultiValueAnswer',
    choice: { algorithm: 'round-robin' },
    member: () => ({}),
  },
]
/** What a multivalue answer has at most. */
const multiValueMax = 8

function balancedName(
  sets: readonly Route53Set[],
  checks: readonly Fields[],
  builder: ZoneBuilder,
): void {
  const [first] = sets
  const way = ways.find(({ field }) => sets.some(({ fields }) => fields[field] !== undefined))
  if (first === undefined) return
  const { name, place } = first
  if (way === undefined) {
    const text = `${name}: nothing here chooses by bias or by a list of networks; see mapFile`
    return builder.note('not mapped', place, text)
  }
  const members = sets.flatMap((set) => membersOf(set, way, builder))
  if (members.length === 0) return
  const { healthCheck, complaint } = route53HealthCheck(
    sets.map(({ fields }) => fields),
    checks,
  )
  if (complaint !== undefined) builder.note('changed', place, `${name}: ${complaint}`)
  const isDrained = members.every(({ weight }) => weight === 0)
  const several = sets.find(({ values }) => values.length > 1)
  const isMultiValue = way.field === 'MultiValueAnswer'
  if (several !== undefined && !isMultiValue) {
    const text = `${name}: a set of several addresses was answered whole; now one member is chosen`
    builder.note('changed', several.place, text)
  }
  if (way.field === 'Region') {
    const text = `${name}: latency goes by the probes of each node here, and by regions of clients`
    builder.note('changed', place, text)
  }
  builder.balanced({
    domain: name,
    ttl: Math.min(...sets.map(({ ttl }) => ttl)),
    // All weights 0 mean equal shares there; here such members would be drained.
    members: isDrained ? members.map((one) => ({ ...one, weight: 1 })) : members,
    choice: {
      ...way.choice,
      ...(isMultiValue ? { answerCount: Math.min(multiValueMax, members.length) } : {}),
    },
    ...(healthCheck === undefined ? {} : { healthCheck }),
  })
}

function membersOf(set: Route53Set, way: Way, builder: ZoneBuilder): readonly BalancedMember[] {
  const { fields, name, type, values, place } = set
  const label = textOf(fields['SetIdentifier'])
  const refuse = (why: string): [] => {
    builder.note('not mapped', place, `${name} ${type} ${label}: ${why}`)
    return []
  }
  const alias = aliasOf(fields)
  if (alias !== undefined) return refuse(`an alias of ${alias}; ${noHostnames}`)
  if (isBalanced(set) && fields[way.field] === undefined) {
    return refuse(`this name is balanced by ${way.field}; one service has one way to choose`)
  }
  const extra = way.member(fields)
  if (typeof extra === 'string') return refuse(extra)
  return values.map((address) => ({
    address,
    ...(label === '' ? {} : { name: label }),
    ...(isBalanced(set) ? extra : {}),
  }))
}
