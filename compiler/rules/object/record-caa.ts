// Checks the values of CAA records, which certificate authorities read. RFC 8659 section 4.
import { readRecords, recordPlace } from '#compiler/values/record-sets.ts'
import type { Place } from '#diagnostics/diagnostic.ts'
import type { Report } from '#diagnostics/finding.ts'
import { parseName } from '#dns/name.ts'
import type { ObjectRule } from './object-rule.ts'

const caaCode = 257

export const recordCaa: ObjectRule<'Records'> = ({ spec }, report) => {
  for (const rrset of readRecords(spec).rrsets) {
    if (rrset.type.code !== caaCode) continue
    const { index, from } = rrset
    for (const [i, one] of rrset.rdata.entries()) {
      checkOne(one, recordPlace(index, 'values', from[i]!), report)
    }
  }
}

/**
 * RFC 8659 section 4.2, with the parameters of RFC 8657. The caller cuts off leading blanks: with
 * `\s*` on both sides of an optional part the time would grow with their square.
 */
const issuer = /^(?<domain>[^\s;]*)\s*(?:;(?<parameters>.*))?$/
const parameter = /^[0-9a-z](?:[0-9a-z-]*[0-9a-z])?\s*=\s*[!-:<-~]*$/i
const domainText = /^[0-9a-z_-]+(?:\.[0-9a-z_-]+)*\.?$/i

/** The expected form by tag; undefined: the value is valid. */
const forms: Readonly<Record<string, (value: string) => string | undefined>> = Object.freeze({
  issue: issuerFault,
  issuewild: issuerFault,
  issuemail: issuerFault,
  issuevmc: issuerFault,
  iodef: (value) =>
    /^(?:mailto:[^\s@]+@[^\s@]+|https?:\/\/[!-~]+)$/i.test(value)
      ? undefined
      : 'mailto: and an address, or an http or https address',
  contactemail: (value) => (/^[^\s@]+@[^\s@]+$/.test(value) ? undefined : 'an e-mail address'),
  contactphone: (value) => (/^\+?[\d ().-]+$/.test(value) ? undefined : 'a telephone number'),
})

function issuerFault(value: string): string | undefined {
  const { domain = '', parameters = '' } = issuer.exec(value.trimStart())?.groups ?? { domain: ' ' }
  const isDomain = domain === '' || (domainText.test(domain) && parseName(domain).ok)
  if (!isDomain) return 'the domain of a certificate authority, or ";" alone for none'
  const parts = parameters.split(';').map((part) => part.trim())
  const isRight = parts.every((part) => part === '' || parameter.test(part))
  return isRight ? undefined : 'parameters such as "; validationmethods=dns-01" behind the domain'
}

function checkOne(rdata: Uint8Array, place: Place, report: Report): void {
  const length = rdata[1]!
  const text = Buffer.from(rdata).toString('latin1', 2)
  const tag = text.slice(0, length)
  const form = Object.hasOwn(forms, tag.toLowerCase()) ? forms[tag.toLowerCase()] : undefined
  if (form === undefined) return report('caa-tag-unknown', place, { args: [tag] })
  const expected = form(text.slice(length))
  if (expected !== undefined) report('caa-value-invalid', place, { args: [tag, expected] })
}
