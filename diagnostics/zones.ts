// Diagnostics of zones, name servers and SOA records.
import type { DiagnosticSpec } from './diagnostic-spec.ts'

export const zoneDiagnostics = {
  'zone-duplicate': {
    severity: 'error',
    message: 'the zone %s is declared twice',
    help: 'remove one of the two',
    cause: 'A zone has one SOA record; case and the trailing dot make no difference.',
    bad: 'zones:\n  - { name: example.com. }\n  - { name: Example.com. }',
    good: 'zones:\n  - { name: example.com. }',
  },
  'zone-without-nameservers': {
    severity: 'error',
    message: 'the zone %s has no name servers',
    help: 'add nameservers to the zone or to defaults',
    cause: 'Every zone has NS records at its apex (RFC 1034 section 4.2.1).',
    bad: 'zones:\n  - name: example.com.',
    good: 'zones:\n  - name: example.com.\n    nameservers: [{ name: ns1.example.net. }]',
  },
  'nameserver-duplicate': {
    severity: 'error',
    message: 'the name server %s is listed twice',
    help: 'remove one of the two, or join their addresses',
    cause: 'A record set holds each record once (RFC 2181 section 5).',
    bad: 'nameservers: [{ name: ns1.example.net. }, { name: NS1.example.net. }]',
    good: 'nameservers: [{ name: ns1.example.net. }, { name: ns2.example.net. }]',
  },
  'nameserver-glue-missing': {
    severity: 'error',
    message: 'the name server %s is inside the zone %s and has no addresses',
    help: 'add addresses: ["192.0.2.1"] with the public address of this server',
    cause: 'Nobody else can know the address of a name inside the zone.',
    bad: 'zones:\n  - name: example.com.\n    nameservers: [{ name: ns1.example.com. }]',
    good:
      'zones:\n  - name: example.com.\n    nameservers: [{ name: ns1.example.com., ' +
      'addresses: ["192.0.2.1"] }]',
  },
  'nameserver-addresses-unused': {
    severity: 'warning',
    message: 'the addresses of %s are not served: it is outside the zones that list it',
    help: 'remove the addresses here, and list the server with them in the zone that encloses it',
    cause: 'A server answers for names inside its zones only (RFC 1034 section 4.2.1).',
    bad:
      'zones:\n  - name: example.com.\n' +
      '    nameservers: [{ name: ns1.example.net., addresses: ["192.0.2.1"] }]',
    good: 'zones:\n  - name: example.com.\n    nameservers: [{ name: ns1.example.net. }]',
  },
  'domain-is-nameserver': {
    severity: 'error',
    message: '%s is the name of a name server with addresses',
    help: 'give the service another domain, or the name server another name',
    cause: 'The name would have two sets of addresses; resolvers need those of the name server.',
    bad: 'domain: ns1.example.com.   # and gslb.yaml lists ns1.example.com. with addresses',
    good: 'domain: www.example.com.',
  },
  'defaults-missing': {
    severity: 'warning',
    message: '%s is outside every declared zone and gslb.yaml has no defaults',
    help:
      'declare its zone in gslb.yaml, or add defaults.nameservers; until then the NS ' +
      'record names %s',
    cause: 'Such a name is served as a zone of its own, and every zone names its servers.',
    bad: '# no gslb.yaml\ndomain: www.example.com.',
    good:
      '# gslb.yaml\nspec:\n  zones:\n    - name: example.com.\n      nameservers: [{ ' +
      'name: ns1.example.net. }]',
  },
  'service-outside-zones': {
    severity: 'warning',
    message: 'the service %s is in no zone of gslb.yaml',
    help: 'correct the domain, or declare its zone in spec.zones of gslb.yaml',
    cause:
      'The name is answered with the name servers and the SOA record of `defaults`, as a zone ' +
      'of its own; where zones are declared this is mostly a misspelt domain.',
    bad: '# gslb.yaml: zones: [{ name: example.com. }]\nspec: { domain: www.exmaple.com. }',
    good: 'spec: { domain: www.example.com. }',
  },
  'ttl-long': {
    severity: 'warning',
    message: 'resolvers keep the addresses of this service for %s seconds',
    help: 'write a ttl of 3600 or less: 60 is a good value',
    cause: 'Resolvers and clients go on to a member that has failed for as long as that.',
    bad: 'spec: { domain: www.example.com., pool: web, ttl: 86400 }',
    good: 'spec: { domain: www.example.com., pool: web, ttl: 60 }',
  },
  'key-life-short': {
    severity: 'error',
    message: '%s is too short for the %s of %s: a rollover takes up to %s',
    help: 'write a longer time: 90d is usual for a ZSK, 2y or never for a KSK or CSK',
    cause:
      'A key goes when no resolver has it any more; the next rollover begins after that (RFC 7583).',
    bad: 'dnssec: { enabled: true, policy: { zsk: 2h } }',
    good: 'dnssec: { enabled: true, policy: { zsk: 90d } }',
  },
  'dnskey-invalid': {
    severity: 'error',
    message: '%s',
    help: 'copy the rdata of the DNSKEY record as the other server answers it',
    cause:
      'A DNSKEY record that is no key of its algorithm validates nothing (RFC 6605, RFC 8080).',
    bad: 'dnssec: { dnskeys: ["257 3 13 AAAA"] }',
    good: 'dnssec: { dnskeys: ["257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4="] }',
  },
  'soa-minimum-large': {
    severity: 'warning',
    message: 'resolvers keep "no records" for %s seconds',
    help: 'write a minimum of 300 or less: 30 is a good value',
    cause:
      'When the last member of a pool fails, the empty answer is kept for this long (RFC ' +
      '2308), also after the members are back.',
    bad: 'soa: { minimum: 3600 }',
    good: 'soa: { minimum: 30 }',
  },
  'soa-minimum-above-failover': {
    severity: 'warning',
    message: 'resolvers keep "no records" for %s seconds, and the pool "%s" fails over in %s',
    help: 'write a smaller minimum, or answer something else when all are down (onAllDown)',
    cause:
      'A client that asks while no member is healthy goes without for this long, although the ' +
      'probes find a member that is back sooner.',
    bad: 'soa: { minimum: 60 }   # and healthCheck: { intervalMs: 10000, timeoutMs: 2000 }',
    good: 'soa: { minimum: 10 }',
  },
  'address-invalid': {
    severity: 'error',
    message: '"%s" is not an IP address',
    help:
      'write one IPv4 address such as 192.0.2.10, or IPv6 such as "2001:db8::10", without a ' +
      'port, a prefix length or a name',
    cause: 'Answers hold addresses. Names are not resolved, and 010 could be eight or ten.',
    bad: 'ipAddress: 192.0.2.10:443',
    good: 'ipAddress: 192.0.2.10\nport: 443',
  },
  'address-mapped': {
    severity: 'error',
    message: '%s is an IPv4 address written as IPv6',
    help: 'write %s',
    cause: 'A mapped address in an AAAA record reaches nobody.',
    bad: 'ipAddress: "::ffff:192.0.2.10"',
    good: 'ipAddress: 192.0.2.10',
  },
  'primary-invalid': {
    severity: 'error',
    message: '"%s" is no address of a primary server',
    help: 'write an address, with a port where it is not 53: 192.0.2.53 or [2001:db8::53]:5353',
    cause: 'A name would have to be looked up, perhaps in the zone that is to be transferred.',
    bad: 'from: { primaries: [ns1.example.net] }',
    good: 'from: { primaries: [192.0.2.53] }',
  },
  'primary-duplicate': {
    severity: 'error',
    message: 'the primary server %s is listed twice',
    help: 'remove one of the two',
    cause: 'A server that does not answer would be asked again at once.',
    bad: 'from: { primaries: [192.0.2.53, "192.0.2.53:53"] }',
    good: 'from: { primaries: [192.0.2.53, 198.51.100.53] }',
  },
  'transfer-left': {
    severity: 'note',
    message: 'these records came by zone transfer, and people keep them now: %s has no `from`',
    help: 'nothing, if that is meant; without `transfer` they no longer give way to others',
    cause: 'They still give way to services and other records of their names, and never expire.',
    bad: 'transfer: { soa: … }   # and gslb.yaml has no `from` for the zone',
    good: '# the same file without `transfer`',
  },
  'address-unusable': {
    severity: 'error',
    message: '%s is %s',
    help: 'write the address on which the server can be reached',
    cause: 'No client can connect to such an address.',
    bad: 'ipAddress: 0.0.0.0',
    good: 'ipAddress: 192.0.2.10',
  },
} as const satisfies Record<string, DiagnosticSpec>
