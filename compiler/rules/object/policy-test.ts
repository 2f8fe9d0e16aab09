// Checks the values of a policy test: names, types, addresses, places and times.
import { checkInstant } from '#compiler/values/instants.ts'
import { checkHostName } from '#compiler/values/names.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { YamlPath } from '#diagnostics/diagnostic.ts'
import { reportFault } from '#diagnostics/finding.ts'
import type { Report } from '#diagnostics/finding.ts'
import { parseAddress } from '#dns/address.ts'
import { rrTypeNames } from '#dns/rrtype.ts'
import { suggest } from '#lib/suggest.ts'
import { isCountryCode } from '#routing/geo/countries.ts'
import { parseCidr, withoutHostBits } from '#routing/tables/cidr.ts'
import type { Expected, Given } from '#schemas/objects/policy-test.ts'
import type { ObjectRule } from './object-rule.ts'

export const policyTest: ObjectRule<'Test'> = ({ spec }, report) => {
  checkGiven(spec.given ?? {}, ['spec', 'given'], report)
  checkExpected(spec.expect ?? {}, ['spec', 'expect'], report)
  for (const [i, { name, given = {}, expect = {} }] of spec.cases.entries()) {
    const path = ['spec', 'cases', i] as const
    checkGiven(given, [...path, 'given'], report)
    checkExpected(expect, [...path, 'expect'], report)
    if (given.name === undefined && spec.given?.name === undefined) {
      report('test-name-missing', valueAt(...path), { args: [name ?? String(i + 1)] })
    }
  }
}

function checkGiven(given: Given, path: YamlPath, report: Report): void {
  const say = (field: keyof Given, args: readonly string[], suggestion = ''): void =>
    report('test-value', valueAt(...path, field), { args, suggestion })
  const { name, type, client, subnet, country, at } = given
  if (name !== undefined) reportFault(checkHostName(name).fault, valueAt(...path, 'name'), report)
  if (type !== undefined && !isType(type)) {
    const near = suggest(type, Object.values(rrTypeNames)) ?? ''
    say('type', [`"${type}" is not a known type`, 'write a type such as A or TYPE65'], near)
  }
  if (client !== undefined && !parseAddress(client).ok) {
    say('client', [`"${client}" is not an IP address`, 'write one; networks go into subnet'])
  }
  if (subnet !== undefined && !isSubnet(subnet)) {
    const remedy = 'write an address, or a network such as 192.0.2.0/24'
    say('subnet', [`"${subnet}" is neither an IP address nor a network`, remedy])
  }
  if (country !== undefined && !isPlace(country)) {
    const remedy = 'write two letters such as DE, or a subdivision such as US-CA'
    say('country', [`"${country}" is not a country`, remedy])
  }
  if (at !== undefined) checkInstant(at, valueAt(...path, 'at'), report)
}

function checkExpected(expect: Expected, path: YamlPath, report: Report): void {
  for (const field of ['members', 'oneOf'] as const) {
    for (const [i, text] of (expect[field] ?? []).entries()) {
      checkMember(text, [...path, field, i], report)
    }
  }
  for (const [i, { member }] of (expect.share ?? []).entries()) {
    checkMember(member, [...path, 'share', i, 'member'], report)
  }
}

/** Accepts an address, or the host name of an alias. */
function checkMember(text: string, path: YamlPath, report: Report): void {
  if (parseAddress(text).ok || checkHostName(text).fault === undefined) return
  const args = [`"${text}" is not the address of a member`, 'write the address as in its pool']
  report('test-value', valueAt(...path), { args })
}

/** RFC 3597 section 5: types may be given by number. */
function isType(text: string): boolean {
  const name = text.toUpperCase()
  if (Object.values(rrTypeNames).includes(name)) return true
  const number = /^TYPE(\d{1,5})$/.exec(name)
  return number !== null && Number(number[1]) <= 0xffff
}

function isSubnet(text: string): boolean {
  return parseAddress(text).ok || parseCidr(text).ok || parseCidr(withoutHostBits(text)).ok
}

function isPlace(text: string): boolean {
  return isCountryCode(text.slice(0, 2)) && /^[A-Z]{2}(-[A-Z0-9]{1,3})?$/.test(text)
}
