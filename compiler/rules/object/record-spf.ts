// Notes what receivers of mail would not understand in SPF records. RFC 7208.
import { parseAddress } from '#dns/address.ts'
import { RrType } from '#dns/rrtype.ts'
import { readRecords, recordPlace } from '#compiler/values/record-sets.ts'
import { textOf } from '#compiler/values/record-texts.ts'
import type { ObjectRule } from './object-rule.ts'

export const recordSpf: ObjectRule<'Records'> = {
  name: 'record-spf',
  kind: 'Records',
  check({ spec }, report) {
    for (const { index, name, type, rdata } of readRecords(spec).rrsets) {
      if (type.code !== RrType.TXT) continue
      const texts = rdata.map(textOf).filter((text) => /^"?\s*v\s*=\s*spf/i.test(text))
      const doubts = texts.flatMap(doubtsOf)
      if (texts.length > 1) doubts.unshift(`${texts.length} of them, and receivers want one`)
      for (const doubt of doubts) {
        report('spf-doubtful', recordPlace(index, 'values'), { args: [name, doubt] })
      }
    }
  },
}

/** RFC 7208 section 4.6.4: more of these and the check fails. */
const lookupsMax = 10
const lookups: readonly string[] = ['include', 'a', 'mx', 'ptr', 'exists', 'redirect']
const mechanisms: readonly string[] = ['all', 'ip4', 'ip6', ...lookups.slice(0, -1)]

interface Term {
  readonly text: string
  readonly qualifier: string
  readonly name: string
  readonly value: string
  readonly isModifier: boolean
}

function doubtsOf(text: string): string[] {
  if (!/^v=spf1(?: |$)/i.test(text))
    return ['it does not begin with "v=spf1 " and is not looked at']
  const terms = text.split(' ').slice(1).filter(Boolean).map(termOf)
  const doubts = terms.flatMap((term) => doubtOfTerm(term) ?? [])
  const asked = terms.filter(({ name }) => lookups.includes(name)).length
  if (asked > lookupsMax) doubts.push(`it needs ${asked} look-ups, and the limit is ${lookupsMax}`)
  const end = terms.findIndex(({ name, isModifier }) => name === 'all' && !isModifier)
  const ignored = end === -1 ? undefined : terms.slice(end + 1).find((term) => !term.isModifier)
  if (ignored !== undefined) doubts.push(`"${ignored.text}" stands behind "all" and is not read`)
  if (end === -1 && !terms.some(({ name }) => name === 'redirect')) {
    doubts.push('it ends without "all" or "redirect=", and says nothing of all other senders')
  }
  if (end !== -1 && ['', '+'].includes(terms[end]!.qualifier)) {
    doubts.push(`"${terms[end]!.text}" lets everybody send`)
  }
  return doubts
}

function termOf(text: string): Term {
  const [, qualifier = '', name = '', sign = '', value = ''] =
    /^([-+~?]?)([a-z][\w.-]*)?([:=/]?)(.*)$/i.exec(text) ?? []
  return { text, qualifier, name: name.toLowerCase(), value, isModifier: sign === '=' }
}

function doubtOfTerm({ text, name, value, isModifier }: Term): string | undefined {
  if (isModifier) return undefined
  if (!mechanisms.includes(name)) return `"${text}" is no mechanism of SPF`
  const isBare = (name === 'include' || name === 'exists') && value === ''
  if (isBare) return `"${text}" names no domain`
  if (name !== 'ip4' && name !== 'ip6') return undefined
  const address = parseAddress(value.replace(/\/\d{1,3}$/, ''))
  const isRight = address.ok && address.value.length === (name === 'ip4' ? 4 : 16)
  return isRight ? undefined : `"${text}" has no IPv${name.slice(2)} address or network`
}
