// Parses and normalizes the domain names of files.
import { foldName, formatName, parseName } from '#dns/name.ts'
import type { TextFault } from '#diagnostics/finding.ts'

export interface CheckedName {
  /** Lower case with the trailing dot; undefined when the text cannot be a name. */
  readonly key: string | undefined
  readonly fault: TextFault | undefined
}

/** Labels of a name that can be queried; wildcards are checked separately. */
const plain = /^[a-z0-9_*-]+(?:\.[a-z0-9_*-]+)*\.?$/i

/** RFC 2317 names the reverse zones of small networks by a slash, `0/25.2.0.192.in-addr.arpa.`. */
const reverse = /^[a-z0-9_*/-]+(?:\.[a-z0-9_*/-]+)*\.(?:in-addr|ip6)\.arpa\.?$/i

/** Several labels without the final dot. */
const dotless = /^[a-z0-9_*-]+(?:\.[a-z0-9_*-]+)+$/i

/** @param wildcard true when the first label may be `*` */
export function checkName(text: string, wildcard: boolean): CheckedName {
  const key = `${text.toLowerCase().replace(/\.$/, '')}.`
  const parsed = parseName(text)
  if (!parsed.ok) return { key: undefined, fault: lengthFault(text, parsed.error) }
  if (text === '.' || !(plain.test(text) || reverse.test(text))) {
    return { key: undefined, fault: formFault(text) }
  }
  const rest = wildcard && key.startsWith('*.') ? key.slice(2) : key
  if (rest.includes('*') || rest === '') {
    return { key: undefined, fault: { code: 'name-wildcard', args: [text], suggestion: '' } }
  }
  const isWhole = key.indexOf('.') < key.length - 1
  const absolute = `${text}.`
  // A single label more likely lacks the rest of its name than the final dot.
  const write = isWhole ? absolute : `the whole name, such as ${text}.example.com.`
  const suggestion = isWhole ? absolute : ''
  const fault = text.endsWith('.')
    ? undefined
    : { code: 'name-not-absolute' as const, args: [text, write], suggestion }
  return { key, fault }
}

/**
 * Adds the final dot to a name without one. A single label is returned unchanged: it more likely
 * lacks the rest of its name.
 */
export function absoluteName(text: string): string {
  return dotless.test(text) ? `${text}.` : text
}

/** For fields where the trailing dot is optional and no wildcard is allowed. */
export function checkHostName(text: string): CheckedName {
  const { key, fault } = checkName(text, false)
  return { key, fault: fault?.code === 'name-not-absolute' ? undefined : fault }
}

/** Like `checkHostName`, but the first label may be `*`. */
export function checkHostPattern(text: string): CheckedName {
  const { key, fault } = checkName(text, true)
  return { key, fault: fault?.code === 'name-not-absolute' ? undefined : fault }
}

/**
 * For a mailbox written as a name: a dot in its first label is escaped with a backslash (RFC 1035
 * section 8).
 */
export function checkMailbox(text: string): CheckedName {
  const [local = '', domain = '', ...others] = text.replace(/\.$/, '').split('@')
  if (local !== '' && plain.test(domain) && others.length === 0) {
    const meant = `${local.replaceAll('.', '\\.')}.${domain.replace(/\.$/, '')}.`
    return { key: undefined, fault: invalid(text, 'a mailbox is written as a name', meant) }
  }
  const [first = ''] = /^(?:\\.|[^\\.])*/s.exec(text) ?? []
  if (!first.includes('\\')) return checkName(text, false)
  const parsed = parseName(text)
  if (!parsed.ok) return { key: undefined, fault: lengthFault(text, parsed.error) }
  const rest = checkName(text.slice(first.length + 1), false)
  if (rest.key === undefined) return rest
  const fault = rest.fault && { ...rest.fault, args: [text, `${text}.`], suggestion: `${text}.` }
  return { key: formatName(foldName(parsed.value)), fault }
}

function lengthFault(text: string, error: string): TextFault {
  const labels = text.split('.')
  if (error === 'label-too-long') {
    const label = labels.find((candidate) => candidate.length > 63) ?? text
    return { code: 'name-label-too-long', args: [String(label.length), label], suggestion: '' }
  }
  if (error === 'name-too-long') {
    const octets = text.replace(/\.$/, '').length + 2
    return { code: 'name-too-long', args: [String(octets)], suggestion: '' }
  }
  if (error === 'label-empty') {
    const suggestion = `${text.replace(/\.{2,}/g, '.').replace(/^\.|\.$/g, '')}.`
    return invalid(text, 'a label between two dots is empty', suggestion)
  }
  return formFault(text)
}

function formFault(text: string): TextFault {
  if (text === '.') return invalid(text, 'it is the root', '')
  if (text.includes('@')) return invalid(text, 'a mailbox is written as a name', mailboxName(text))
  if (text.includes('://')) return invalid(text, 'it is a URL', hostOf(text))
  const odd = [...text].find((character) => !/[a-z0-9_*.-]/i.test(character)) ?? ''
  return invalid(text, `the character ${JSON.stringify(odd)} cannot be in it`, hostOf(text))
}

/** The host in a URL, or before a port or a path; '' when it is not a host name either. */
function hostOf(text: string): string {
  const host = text.replace(/^[a-z]+:\/\//i, '').replace(/[/:?#].*$/s, '')
  return plain.test(host) && host.includes('.') ? `${host.replace(/\.$/, '')}.` : ''
}

/** RFC 1035 section 8: the first label is the local part, so a dot in it cannot be written here. */
function mailboxName(text: string): string {
  const [local = '', domain = '', ...rest] = text.replace(/\.$/, '').split('@')
  const isWritable = local !== '' && domain !== '' && rest.length === 0 && !local.includes('.')
  return isWritable && plain.test(`${local}.${domain}`) ? `${local}.${domain}.` : ''
}

function invalid(text: string, why: string, suggestion: string): TextFault {
  return { code: 'name-invalid', args: [text, why], suggestion }
}
