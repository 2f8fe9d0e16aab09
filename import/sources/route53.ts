// Imports a hosted zone of Route 53: the JSON of `aws route53 list-resource-record-sets`,
// optionally with the HealthChecks of `aws route53 list-health-checks` in the same object.
import { err, ok } from '#lib/result.ts'
import { readExport, rootKey } from '#import/fields/export-document.ts'
import type { ExportObject } from '#import/fields/export-object.ts'
import type { ImportSource } from './imported.ts'
import { balancedName } from './route53-balanced.ts'
import { route53Checks } from './route53-health-check.ts'
import type { Route53Set } from './route53-set.ts'
import { aliasTtl, route53Set } from './route53-set.ts'
import { rootOrigin, ZoneBuilder } from './zone-builder.ts'

export const route53Source: ImportSource = {
  name: 'route53',
  says: 'JSON of "aws route53 list-resource-record-sets"',
  read(file, { origin }) {
    const document = readExport(file)
    if (!document.ok) return document
    const { root, top } = document.value
    const zone = root.object(rootKey)
    if (!zone.isList('ResourceRecordSets')) {
      const message =
        'expected the list ResourceRecordSets: "aws route53 list-resource-record-sets"'
      return err([{ ...top, message }])
    }
    const builder = new ZoneBuilder(rootOrigin)
    zone.asUsual('IsTruncated', false)
    zone.aside('says how the list was asked for', 'MaxItems')
    if (zone.flag('IsTruncated') === true || zone.has('NextToken')) noteCut(zone, builder)
    const sets = zone.objects('ResourceRecordSets').map(route53Set)
    const balanced = balancedNames(sets)
    const isPart = new Set(balanced.flat())
    for (const set of sets) {
      if (isPart.has(set)) continue
      if (set.isBalanced) refuse(set, 'only addresses and CNAME records are balanced', builder)
      else plainSet(set, sets, builder)
    }
    const used = new Set(balanced.flat().map(({ fields }) => fields.text('HealthCheckId')))
    const checks = route53Checks(zone.objects('HealthChecks'), used, builder)
    for (const some of balanced) balancedName(some, checks, builder)
    return ok(builder.result(origin, top, root.notes()))
  },
}

/** The API gives at most 300 sets at once, `aws` with `--max-items` less. */
function noteCut(zone: ExportObject, builder: ZoneBuilder): void {
  const next = zone.text('NextRecordName')
  const text = `the list ends before ${next === '' ? 'the zone does' : next}: the rest is missing`
  builder.note('not mapped', zone.place, `${text}; "aws" without --max-items gives all`)
  zone.aside('says where the list goes on', 'NextRecordType', 'NextRecordIdentifier', 'NextToken')
}

/** The sets of each name with several answers: addresses or aliases. */
function balancedNames(sets: readonly Route53Set[]): readonly (readonly Route53Set[])[] {
  const answers = sets.filter(({ type }) => /^(A|AAAA|CNAME)$/.test(type))
  const names = Map.groupBy(answers, ({ name, type }) => `${name} ${type === 'CNAME'}`)
  return [...names.values()].filter((some) => some.some(({ isBalanced }) => isBalanced))
}

function plainSet(set: Route53Set, all: readonly Route53Set[], builder: ZoneBuilder): void {
  const { name, type, ttl, values, alias, place } = set
  if (alias !== undefined) return plainAlias(set, all, builder)
  for (const value of values) builder.record({ name, type, ttl: ttl ?? 0, value }, place)
  if (values.length === 0) refuse(set, 'it has no records', builder)
}

/**
 * An alias to a name outside of the zone becomes an ALIAS; one within the zone copies the records.
 */
function plainAlias(set: Route53Set, all: readonly Route53Set[], builder: ZoneBuilder): void {
  const { fields, name, type, alias = '', place } = set
  fields.object('AliasTarget').aside('there is no other answer', 'EvaluateTargetHealth')
  const own = all.filter((one) => one.name.toLowerCase() === alias.toLowerCase())
  const target = own.find((one) => one.type === type && !one.isBalanced && one.alias === undefined)
  if (own.length > 0) {
    if (target === undefined) {
      const how = 'write a service with the same pool'
      return refuse(set, `an alias of ${alias}, which is balanced or an alias; ${how}`, builder)
    }
    const text = `${name} ${type}: an alias of ${alias}; now it has the same records, a copy`
    builder.note('changed', place, text)
    for (const value of target.values)
      builder.record({ name, type, ttl: target.ttl ?? 0, value }, place)
    return
  }
  if (type !== 'A' && type !== 'AAAA') {
    return refuse(set, `an alias of ${alias}: only addresses are looked up`, builder)
  }
  const hasBoth = all.some((one) => {
    return one.name === name && one.alias === alias && one.type !== type && !one.isBalanced
  })
  if (!hasBoth) {
    const text = `${name} ${type}: an ALIAS has the IPv4 and the IPv6 addresses of ${alias}`
    builder.note('changed', place, text)
  }
  builder.record({ name, type: 'ALIAS', ttl: aliasTtl, value: alias }, place)
}

function refuse({ name, type, id, fields, place }: Route53Set, why: string, builder: ZoneBuilder) {
  const label = [name, type, ...(id === '' ? [] : [id])].join(' ')
  builder.note('not mapped', place, `${label}: ${why}`)
  fields.markReported()
}
