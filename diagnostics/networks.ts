// Diagnostics of rules that send client networks to members.
import type { DiagnosticSpec } from './diagnostic-spec.ts'

export const networkDiagnostics = {
  'cidr-invalid': {
    severity: 'error',
    message: '%s',
    help: '%s',
    cause:
      'A network is an address and the number of its leading bits; the others are zero. One of ' +
      'IPv4-mapped addresses, such as ::ffff:192.0.2.0/120, is the IPv4 network that it stands for.',
    bad: 'cidr: 192.0.2.10/24',
    good: 'cidr: 192.0.2.0/24',
  },
  'rate-limit-exempt-all': {
    severity: 'warning',
    message: '%s is exempt: response rate limiting is off for all clients with such addresses',
    help: 'name the networks of the resolvers that are to be left alone',
    cause:
      'An exemption is for networks that many people share. A flood with addresses of victims ' +
      'comes from any address; rate limiting is turned off for a node by dns.rrl of its settings.',
    bad: 'rateLimitExempt:\n  - { cidr: 0.0.0.0/0 }',
    good: 'rateLimitExempt:\n  - { cidr: 203.0.113.0/24 }',
  },
  'geo-rule-endpoint-unknown': {
    severity: 'error',
    message: 'no member of the pool has the address %s',
    help: 'name a member, such as %s',
    cause: 'A geo rule sends clients to a member of its own pool.',
    bad: 'geoRules:\n  - { cidr: 198.51.100.0/24, endpoint: 203.0.113.9 }',
    good: 'geoRules:\n  - { cidr: 198.51.100.0/24, endpoint: 192.0.2.10 }',
  },
  'geo-rule-duplicate': {
    severity: 'warning',
    message: 'two rules for %s have the priority %s: the first of them goes first',
    help: 'give them different priorities',
    cause: 'Among equal networks the lower priority wins; the order of the file is easily changed.',
    bad:
      'geoRules:\n  - { cidr: 198.51.100.0/24, endpoint: 192.0.2.10 }\n  - { cidr: ' +
      '198.51.100.0/24, endpoint: 192.0.2.11 }',
    good:
      'geoRules:\n  - { cidr: 198.51.100.0/24, endpoint: 192.0.2.10, priority: 1 }\n  - { cidr: ' +
      '198.51.100.0/24, endpoint: 192.0.2.11, priority: 2 }',
  },
  'network-rule-redundant': {
    severity: 'warning',
    message: 'the rule for %s changes nothing: that for %s sends its clients to %s too',
    help: 'remove it, or name another member',
    cause: 'Every client of the network would be answered the same without the rule.',
    bad:
      'rules:\n  - { cidr: 198.51.0.0/16, endpoint: 192.0.2.10 }\n  - { cidr: 198.51.100.0/24, ' +
      'endpoint: 192.0.2.10 }',
    good: 'rules:\n  - { cidr: 198.51.0.0/16, endpoint: 192.0.2.10 }',
  },
  'map-rule-shadowed': {
    severity: 'warning',
    message: 'the rule for %s is reached only while %s is down: the rule for %s comes first',
    help: 'put the rule of the smaller network first',
    cause:
      'The first rule that holds the client wins, and the earlier one holds every client of this ' +
      'one.',
    bad:
      'mapFile:\n  rules:\n    - { cidr: 198.51.0.0/16, endpoint: 192.0.2.10 }\n    - { cidr: ' +
      '198.51.100.0/24, endpoint: 192.0.2.11 }',
    good:
      'mapFile:\n  rules:\n    - { cidr: 198.51.100.0/24, endpoint: 192.0.2.11 }\n    - { cidr: ' +
      '198.51.0.0/16, endpoint: 192.0.2.10 }',
  },
  'network-rules-crowded': {
    severity: 'error',
    message: 'the clients of %s have more than %s members to prefer',
    help: 'remove rules of the networks that hold it',
    cause: 'A node keeps that many members for one network; those beyond would never be tried.',
    bad: '# 65 rules for 198.51.100.0/24, each with another member',
    good: '# at most 64 of them',
  },
  'asn-rule-empty': {
    severity: 'error',
    message: 'the rule has neither asn nor org',
    help: 'say which clients it is for: asn: 64496, or org: a part of the name',
    cause: 'A rule without both would match every client or none.',
    bad: 'asn:\n  rules:\n    - { endpoint: 192.0.2.10 }',
    good: 'asn:\n  rules:\n    - { asn: 64496, endpoint: 192.0.2.10 }',
  },
  'asn-rule-duplicate': {
    severity: 'warning',
    message: 'a rule before sends the clients of %s to %s already',
    help: 'remove one of the two',
    cause: 'The first of them matches whenever the second one does.',
    bad:
      'asn:\n  rules:\n    - { asn: 64496, endpoint: 192.0.2.10 }\n    - { asn: 64496, endpoint: ' +
      '192.0.2.10 }',
    good:
      'asn:\n  rules:\n    - { asn: 64496, endpoint: 192.0.2.10 }\n    - { asn: 64497, endpoint: ' +
      '192.0.2.10 }',
  },
  'location-duplicate': {
    severity: 'error',
    message: 'the place of %s is given twice',
    help: 'remove one of the two',
    cause: 'Both keys are the same address.',
    bad:
      'endpointLocations:\n  "2001:db8::a": { lat: 50.1, lon: 8.7 }\n  "2001:DB8::A": { lat: ' +
      '48.9, lon: 2.4 }',
    good: 'endpointLocations:\n  "2001:db8::a": { lat: 50.1, lon: 8.7 }',
  },
  'endpoint-unknown': {
    severity: 'warning',
    message: 'no pool has a member with the address %s',
    help: 'correct the address, or remove the entry',
    cause: 'The entry is about a member that is never answered.',
    bad: 'mapFile:\n  rules:\n    - { cidr: 198.51.100.0/24, endpoint: 203.0.113.9 }',
    good: 'mapFile:\n  rules:\n    - { cidr: 198.51.100.0/24, endpoint: 192.0.2.10 }',
  },
} as const satisfies Record<string, DiagnosticSpec>
