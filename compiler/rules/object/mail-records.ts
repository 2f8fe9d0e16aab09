// Notes mistakes in SPF and DMARC records that receivers of mail would not understand.
import { readRecords, recordPlace } from '#compiler/values/record-sets.ts'
import { parseAddress } from '#dns/address.ts'
import { RrType } from '#dns/rrtype.ts'
import type { ObjectRule } from './object-rule.ts'

/** Checks SPF and DMARC records among the texts of names, most of which are unrelated. */
export const recordMail: ObjectRule<'Records'> = ({ spec }, report) => {
  for (const { type, rdata, index, name } of readRecords(spec).rrsets) {
    if (type.code !== RrType.TXT) continue
    const texts = rdata.map(textOf)
    for (const [code, doubtsOf] of checks) {
      for (const doubt of doubtsOf(texts, name)) {
        report(code, recordPlace(index, 'values'), { args: [name, doubt] })
      }
    }
  }
}

const checks = [
  ['spf-doubtful', spfDoubts],
  ['dmarc-doubtful', dmarcDoubts],
] as const

/** RFC 7208. */
function spfDoubts(all: readonly string[]): readonly string[] {
  const texts = all.filter((text) => /^"?\s*v\s*=\s*spf/i.test(text))
  const doubts = texts.flatMap(doubtsOfSpf)
  return texts.length > 1 ? [`${texts.length} of them, and receivers want one`, ...doubts] : doubts
}

/** RFC 7208 section 4.6.4: with more lookups the check fails. */
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

function doubtsOfSpf(text: string): string[] {
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
    /^([-+~?]?)([a-z][\w.-]*)?([:=/]?)([^]*)$/i.exec(text) ?? []
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

const label = '_dmarc.'
/** The name at which a domain agrees to take another one's reports: RFC 7489 section 7.1. */
const consentLabels = /(?:^|\.)_report\._dmarc\./

/** RFC 7489 section 6.3. */
function dmarcDoubts(texts: readonly string[], name: string): readonly string[] {
  const own = texts.filter((text) => /^v\s*=\s*DMARC1\b/i.test(text))
  const isConsent = consentLabels.test(name)
  const doubts = name.startsWith(label) ? doubtsAt(own, texts) : []
  if (isConsent) doubts.push(...own.flatMap(doubtsOfConsent))
  if (!isConsent && !name.startsWith(label) && own.length > 0) {
    doubts.push(`it is looked for at ${label}${name} and nowhere else`)
  }
  return doubts
}

function doubtsAt(own: readonly string[], texts: readonly string[]): string[] {
  if (own.length > 1) return [`${own.length} of them, and receivers want one`]
  const [text] = own
  if (text !== undefined) return doubtsOfDmarc(text)
  return texts.length === 0 ? [] : ['it does not begin with "v=DMARC1;" and is not looked at']
}

/** Such a record has no policy; its `rua` redirects the reports. */
function doubtsOfConsent(text: string): string[] {
  return tagsIn(text).doubts
}

const policies = /^(?:none|quarantine|reject)$/i
const reports = /^mailto:[^\s,;]+(?:,\s*mailto:[^\s,;]+)*$/i
/** Valid values by tag. */
const tags: Readonly<Record<string, RegExp>> = Object.freeze({
  v: /^DMARC1$/,
  p: policies,
  sp: policies,
  np: policies,
  pct: /^(?:100|\d{1,2})$/,
  adkim: /^[rs]$/i,
  aspf: /^[rs]$/i,
  fo: /^[01ds](?::[01ds])*$/i,
  rf: /^\w+(?::\w+)*$/,
  ri: /^\d{1,10}$/,
  rua: reports,
  ruf: reports,
  psd: /^[nyu]$/i,
  t: /^[ny]$/i,
})

function doubtsOfDmarc(text: string): string[] {
  const { found, doubts } = tagsIn(text)
  if (!found.has('p')) doubts.push('it has no policy: p=none, p=quarantine or p=reject')
  return doubts
}

function tagsIn(text: string): { found: ReadonlySet<string>; doubts: string[] } {
  const found = new Set<string>()
  const doubts: string[] = []
  for (const part of text.split(';').map((one) => one.trim())) {
    if (part === '') continue
    const [name = '', value = ''] = part.split('=', 2).map((one) => one.trim())
    const tag = name.toLowerCase()
    const form = Object.hasOwn(tags, tag) ? tags[tag] : undefined
    if (form === undefined) doubts.push(`"${name}" is no tag of DMARC`)
    else if (!form.test(value)) doubts.push(`"${part}" has a value that is not known`)
    found.add(tag)
  }
  return { found, doubts }
}

/** All strings joined without blanks (RFC 7208 section 3.3), octets as Latin-1. */
function textOf(rdata: Uint8Array): string {
  const octets = Buffer.from(rdata.buffer, rdata.byteOffset, rdata.length)
  let text = ''
  for (let at = 0; at < rdata.length; at += rdata[at]! + 1) {
    text += octets.toString('latin1', at + 1, at + 1 + rdata[at]!)
  }
  return text
}
