// Notes what receivers of mail would not understand in DMARC records. RFC 7489 section 6.3.
import { RrType } from '#dns/rrtype.ts'
import { readRecords, recordPlace } from '#compiler/values/record-sets.ts'
import { textOf } from '#compiler/values/record-texts.ts'
import type { ObjectRule } from './object-rule.ts'

const label = '_dmarc.'
/** Where a domain says that it takes the reports of another one: RFC 7489 section 7.1. */
const consentLabels = /(?:^|\.)_report\._dmarc\./

export const recordDmarc: ObjectRule<'Records'> = {
  name: 'record-dmarc',
  kind: 'Records',
  check({ spec }, report) {
    for (const { index, name, type, rdata } of readRecords(spec).rrsets) {
      if (type.code !== RrType.TXT) continue
      const texts = rdata.map(textOf)
      const own = texts.filter((text) => /^v\s*=\s*DMARC1\b/i.test(text))
      const isConsent = consentLabels.test(name)
      const doubts = name.startsWith(label) ? doubtsAt(own, texts) : []
      if (isConsent) doubts.push(...own.flatMap(doubtsOfConsent))
      if (!isConsent && !name.startsWith(label) && own.length > 0) {
        doubts.push(`it is looked for at ${label}${name} and nowhere else`)
      }
      for (const doubt of doubts) {
        report('dmarc-doubtful', recordPlace(index, 'values'), { args: [name, doubt] })
      }
    }
  },
}

function doubtsAt(own: readonly string[], texts: readonly string[]): string[] {
  if (own.length > 1) return [`${own.length} of them, and receivers want one`]
  const [text] = own
  if (text !== undefined) return doubtsOf(text)
  return texts.length === 0 ? [] : ['it does not begin with "v=DMARC1;" and is not looked at']
}

/** It has no policy; `rua` in it replaces where reports go. */
function doubtsOfConsent(text: string): string[] {
  return tagsIn(text).doubts
}

const policies = /^(?:none|quarantine|reject)$/i
const reports = /^mailto:[^\s,;]+(?:,\s*mailto:[^\s,;]+)*$/i
/** What each tag may say. */
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

function doubtsOf(text: string): string[] {
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
