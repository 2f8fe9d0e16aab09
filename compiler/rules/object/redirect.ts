// Checks a redirect: a host name as its source, a safe absolute URL as its target.
import { absoluteUrl, plainHostOf } from '#bundle/redirects/redirect-target.ts'
import { checkHostName, checkHostPattern } from '#compiler/values/names.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import { parseAddress } from '#dns/address.ts'
import { redirectCodeDefault, redirectCodes } from '#schemas/objects/redirect.ts'
import { reportFault } from '#diagnostics/finding.ts'
import type { ObjectRule } from './object-rule.ts'

/** Characters with a meaning in the configuration language of some web server. */
const unsafe = /[\p{Cc}\s;{}#"'\\]/u

export const redirectSource: ObjectRule<'Redirect'> = ({ spec }, report) => {
  reportFault(checkHostPattern(spec.sourceFqdn).fault, valueAt('spec', 'sourceFqdn'), report)
  if ((redirectCodes as readonly number[]).includes(spec.code)) return
  const suggestion = String(redirectCodeDefault)
  const args = [String(spec.code)]
  report('redirect-code-replaced', valueAt('spec', 'code'), { args, suggestion })
}

export const redirectTarget: ObjectRule<'Redirect'> = ({ spec }, report) => {
  const { targetUrl, sourceFqdn } = spec
  const place = valueAt('spec', 'targetUrl')
  const odd = unsafe.exec(targetUrl)?.[0]
  if (odd !== undefined) {
    report('redirect-target-character', place, { args: [wordFor(odd), percentEncoded(odd)] })
    return
  }
  const hidden = /\p{Cf}/u.exec(targetUrl)?.[0]
  if (hidden !== undefined) {
    report('redirect-target-hidden', place, { args: [wordFor(hidden), percentEncoded(hidden)] })
    return
  }
  const url = absoluteUrl(targetUrl)
  if (url === undefined) {
    const suggestion = targetUrl.includes(':') ? '' : `https://${targetUrl}`
    const isBetter = absoluteUrl(suggestion) !== undefined
    const args = [targetUrl]
    report('redirect-target-not-url', place, isBetter ? { args, suggestion } : { args })
    return
  }
  if (url.username !== '' || url.password !== '') {
    report('redirect-target-user', place, { args: [url.hostname] })
    return
  }
  if (!isPossibleHost(url.hostname)) {
    report('redirect-target-host', place, { args: [url.hostname] })
    return
  }
  if (spec.preservePath && url.search !== '') report('redirect-target-query', place)
  const source = checkHostName(sourceFqdn).key
  if (source !== undefined && plainHostOf(targetUrl) === source) {
    report('redirect-to-itself', place, { args: [source] })
  }
}

/** A host name or an address; a URL parser accepts any text without special characters. */
function isPossibleHost(host: string): boolean {
  return parseAddress(host.replace(/^\[(.*)\]$/, '$1')).ok || checkHostName(host).key !== undefined
}

function wordFor(character: string): string {
  if (character === ' ') return 'a space'
  if (character > ' ' && character < '\u007f') return `the character ${character}`
  return `the character U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}

function percentEncoded(character: string): string {
  return [...new TextEncoder().encode(character)]
    .map((octet) => `%${octet.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('')
}
