// Checks of type dns: a query name, a record type, and the data that is expected.
import { parseAddress } from '#dns/address.ts'
import { parseName } from '#dns/name.ts'
import { hostPattern, textPattern } from '#lib/text/patterns.ts'
import { choice, text } from './check-field.ts'
import { keyAt, valueAt } from './probe-type.ts'
import type { CheckDiagnostics, CheckOf, CheckReport, ProbeType } from './probe-type.ts'

const fields = {
  dnsName: text({
    maxLength: 254,
    pattern: hostPattern,
    default: '',
    description: 'Name that type `dns` asks for.',
  }),
  dnsType: choice(['A', 'AAAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'TXT'], {
    description: 'Record type that it asks for.',
    default: 'A',
  }),
  dnsRcode: choice(['NOERROR', 'NXDOMAIN', 'REFUSED', 'SERVFAIL', 'NOTIMP', 'FORMERR'], {
    description: 'Response code that counts as healthy.',
    default: 'NOERROR',
  }),
  dnsContains: text({
    maxLength: 255,
    pattern: textPattern,
    default: '',
    description:
      'What one record of that type in the answer must hold, as `dig +short` shows it: ' +
      '`192.0.2.10`, `10 mail.example.com.`; of SOA and TXT a part is enough. Empty ignores the ' +
      'records.',
  }),
}

const diagnostics = {
  'health-check-dns-missing': {
    severity: 'error',
    message: 'a check of type dns has no dnsName',
    help: 'add dnsName, a name that the members answer for',
    cause: 'There is nothing to ask for, so that no member could ever be healthy.',
    bad: 'healthCheck: { type: dns, port: 53 }',
    good: 'healthCheck: { type: dns, port: 53, dnsName: www.example.com. }',
  },
  'health-check-dns-name': {
    severity: 'error',
    message: '"%s" is no domain name',
    help: 'write one such as www.example.com.',
    cause: 'Labels have 1 to 63 octets, names 255 at most.',
    bad: 'healthCheck: { type: dns, port: 53, dnsName: www..example.com. }',
    good: 'healthCheck: { type: dns, port: 53, dnsName: www.example.com. }',
  },
  'health-check-dns-port': {
    severity: 'warning',
    message: 'a check of type dns asks port 80',
    help: 'write port: 53',
    cause: 'A check without a port probes port 80, whatever its type; DNS servers listen on 53.',
    bad: 'healthCheck: { type: dns, dnsName: www.example.com. }',
    good: 'healthCheck: { type: dns, port: 53, dnsName: www.example.com. }',
  },
  'health-check-dns-rcode': {
    severity: 'error',
    message: 'an answer %s has no record that could hold dnsContains',
    help: 'remove dnsContains, or write dnsRcode: NOERROR',
    cause: 'Both would have to be true of one answer, so that no member could ever be healthy.',
    bad:
      'healthCheck:\n  { type: dns, port: 53, dnsName: a.example., dnsRcode: NXDOMAIN, ' +
      'dnsContains: 192.0.2.1 }',
    good: 'healthCheck: { type: dns, port: 53, dnsName: a.example., dnsRcode: NXDOMAIN }',
  },
  'health-check-dns-answer': {
    severity: 'error',
    message: 'no %s record holds "%s"',
    help: 'write an IPv4 address for A, an IPv6 address for AAAA, or another dnsType',
    cause: 'The answer could never have it, so that no member could ever be healthy.',
    bad: 'healthCheck: { type: dns, port: 53, dnsName: a.example., dnsContains: b.example. }',
    good: 'healthCheck: { type: dns, port: 53, dnsName: a.example., dnsContains: 192.0.2.1 }',
  },
} as const satisfies CheckDiagnostics

export const dns = {
  name: 'dns',
  does: 'asks the member for `dnsName`',
  port: 53,
  fields,
  diagnostics,
  findFaults,
} as const satisfies ProbeType

const octetsOf: Readonly<Record<string, number>> = { A: 4, AAAA: 16 }

function findFaults(
  check: CheckOf<typeof fields>,
  report: CheckReport<keyof typeof diagnostics>,
): void {
  if (check.type !== 'dns') return
  const { dnsName, dnsType, dnsRcode, dnsContains, port } = check
  if (dnsName === '') report('health-check-dns-missing', valueAt('type'))
  else if (!parseName(dnsName).ok) report('health-check-dns-name', valueAt('dnsName'), [dnsName])
  if (port === 80) report('health-check-dns-port', valueAt('type'))
  if (dnsContains !== '' && dnsRcode !== 'NOERROR')
    return report('health-check-dns-rcode', keyAt('dnsContains'), [dnsRcode])
  const octets = octetsOf[dnsType]
  if (dnsContains === '' || octets === undefined) return
  const address = parseAddress(dnsContains)
  if (address.ok && address.value.length === octets) return
  report('health-check-dns-answer', keyAt('dnsContains'), [dnsType, dnsContains])
}
