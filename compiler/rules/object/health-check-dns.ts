// Checks a health check of type dns: its query name, its record type, and the data that it expects.
import { parseAddress } from '#dns/address.ts'
import { parseName } from '#dns/name.ts'
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import type { ObjectRule } from './object-rule.ts'

const octetsOf: Readonly<Record<string, number>> = { A: 4, AAAA: 16 }

export const healthCheckDns: ObjectRule<'Pool'> = {
  name: 'health-check-dns',
  kind: 'Pool',
  check({ spec: { healthCheck: check } }, report) {
    if (check?.type !== 'dns') return
    const { dnsName, dnsType, dnsRcode, dnsContains, port } = check
    if (dnsName === '') {
      report('health-check-dns-missing', valueAt('spec', 'healthCheck', 'type'))
    } else if (!parseName(dnsName).ok) {
      const place = valueAt('spec', 'healthCheck', 'dnsName')
      report('health-check-dns-name', place, { args: [dnsName] })
    }
    if (port === 80) report('health-check-dns-port', valueAt('spec', 'healthCheck', 'type'))
    if (dnsContains !== '' && dnsRcode !== 'NOERROR') {
      const place = keyAt('spec', 'healthCheck', 'dnsContains')
      return report('health-check-dns-rcode', place, { args: [dnsRcode] })
    }
    const octets = octetsOf[dnsType]
    if (dnsContains === '' || octets === undefined) return
    const address = parseAddress(dnsContains)
    if (address.ok && address.value.length === octets) return
    const place = keyAt('spec', 'healthCheck', 'dnsContains')
    report('health-check-dns-answer', place, { args: [dnsType, dnsContains] })
  },
}
