// Diagnostics of members with a host name, and of pools that answer with aliases of them.
import type { DiagnosticSpec } from './diagnostic-spec.ts'

/** Why a name is better not looked up that is answered by those who look. */
export const ownLookup =
  'A resolver finds the name only when its zone is delegated to the nodes, and it gets the ' +
  'answer for itself, which all clients then get, wherever they are.'

const bothForms = 'members:\n  - { ipAddress: 192.0.2.10, port: 443 }'
const discovered = 'members:\n  - { from: consul/shop, port: 443 }'
const named = 'members:\n  - { hostname: lb.example.net., port: 443 }'

export const hostnameDiagnostics = {
  'member-target-missing': {
    severity: 'error',
    message: 'the member has no ipAddress, no hostname and no from',
    help: 'write ipAddress: 192.0.2.10, or hostname: lb.example.net., or from: SOURCE',
    cause: 'There is nothing that could be answered.',
    bad: 'members:\n  - { port: 443 }',
    good: bothForms,
  },
  'member-target-twice': {
    severity: 'error',
    message: 'the member has an ipAddress and a hostname',
    help: 'keep one of the two, or make two members of them',
    cause: 'A member is one backend, known by its address or by its name.',
    bad: 'members:\n  - { ipAddress: 192.0.2.10, hostname: lb.example.net., port: 443 }',
    good: named,
  },
  'member-from-twice': {
    severity: 'error',
    message: 'the member has an %s and a from',
    help: 'keep one of the two, or make two members of them',
    cause: 'The addresses of a member with from are found by a source, and are not written.',
    bad: 'members:\n  - { ipAddress: 192.0.2.10, from: consul/shop, port: 443 }',
    good: discovered,
  },
  'member-from-duplicate': {
    severity: 'error',
    message: 'the source %s is asked twice with the same port',
    help: 'remove one of the two; use weight to give it a larger share, or labels to divide it',
    cause: 'A member is identified by what it asks for and its port.',
    bad: discovered + '\n  - { from: consul/shop, port: 443 }',
    good: 'members:\n  - { from: consul/shop, port: 443, weight: 2 }',
  },
  'cname-member-from': {
    severity: 'error',
    message: 'a pool with answer: cname has a member with from',
    help: 'give it a hostname, or remove answer: cname',
    cause: 'A source gives addresses, and no name that an alias could lead to.',
    bad: 'answer: cname\n' + discovered,
    good: 'answer: cname\n' + named,
  },
  'rollout-member-discovered': {
    severity: 'error',
    message: 'the addresses of the member "%s" are discovered: it has no rollout',
    help: 'set the weights where the source has them, or roll out a member with an address',
    cause: 'Each address that a source finds has a weight of its own.',
    bad: '# a Rollout of the member from:consul/shop',
    good: '# a Rollout of a member with an ipAddress or a hostname',
  },
  'hostname-is-address': {
    severity: 'error',
    message: '"%s" is an address and no host name',
    help: 'write it as ipAddress',
    cause: 'A host name is resolved; an address needs none of that.',
    bad: 'members:\n  - { hostname: 192.0.2.10, port: 443 }',
    good: bothForms,
  },
  'hostname-of-one-label': {
    severity: 'error',
    message: '"%s" is not a whole name',
    help: 'write the whole name, such as %s.example.net.',
    cause: 'Nodes do not append the search list of the machine that they run on.',
    bad: 'members:\n  - { hostname: lb, port: 443 }',
    good: named,
  },
  'hostname-duplicate': {
    severity: 'error',
    message: 'the host name %s port %s is listed twice',
    help: 'remove one of the two; use weight to give it a larger share',
    cause: 'A member is identified by its host name and port.',
    bad:
      'members:\n  - { hostname: lb.example.net., port: 443 }\n  - { hostname: lb.example.net, ' +
      'port: 443 }',
    good: 'members:\n  - { hostname: lb.example.net., port: 443, weight: 2 }',
  },
  'hostname-loop': {
    severity: 'error',
    message: '%s is a name of this configuration that leads back to this pool',
    help: 'name the backend itself, not a name that this pool answers',
    cause: 'To answer the name it would have to be resolved first, or the alias never ends.',
    bad:
      named.replace('lb.example.net.', 'www.example.com.') + '\n# www.example.com. has this pool',
    good: named,
  },
  'hostname-in-own-zone': {
    severity: 'warning',
    message: 'nodes ask a resolver for %s, though they answer for its zone %s',
    help:
      'write its addresses as ipAddress, or answer: cname in the pool, which is followed here; ' +
      'or splitHorizon: true in the zone, where the resolver knows other addresses',
    cause: ownLookup,
    bad: '# zones: [{ name: example.com. }]\n' + named.replace('example.net', 'example.com'),
    good: 'members:\n  - { ipAddress: 192.0.2.10, port: 443 }',
  },
  'pool-hostnames-many': {
    severity: 'error',
    message: 'the members of the pool "%s" may have %s addresses, the limit is %s',
    help: 'divide the pool, or answer an alias with answer: cname',
    cause: 'Up to eight addresses of each family are answered of a host name, 64 of a source.',
    bad: '# a pool of 300 members with a hostname each',
    good: 'spec:\n  answer: cname\n  members:\n    - { hostname: lb.example.net., port: 443 }',
  },
  'cname-member-address': {
    severity: 'error',
    message: 'a pool with answer: cname has a member with an address',
    help: 'give it a hostname, or remove answer: cname',
    cause: 'A reply is an alias or holds addresses, never both (RFC 1034 section 3.6.2).',
    bad: 'answer: cname\n' + bothForms,
    good: 'answer: cname\n' + named,
  },
  'cname-pool-at-apex': {
    severity: 'error',
    message: '%s is the apex of a zone and would be an alias',
    help: 'write answer: addresses in the pool %s, or move the service below the apex',
    cause:
      'An apex has SOA and NS records, and nothing may stand beside an alias (RFC 1034 section ' +
      '3.6.2).',
    bad: '# zones: [{ name: example.com. }], and a pool with answer: cname\ndomain: example.com.',
    good: 'domain: www.example.com.',
  },
  'cname-fallback-mixed': {
    severity: 'error',
    message: 'the pool "%s" answers %s and its fallback "%s" %s',
    help: 'give both pools the same answer',
    cause: 'What a service answers, an alias or addresses, must not depend on health.',
    bad: '# pool web: addresses, pool sorry: cname\nspec: { pool: web, onAllDown: "pool:sorry" }',
    good: 'spec: { pool: web }',
  },
  'rum-url-of-hostname': {
    severity: 'warning',
    message: 'rumUrl has no effect on a member with a hostname',
    help: 'remove it, or give the member an ipAddress',
    cause: 'Browsers measure addresses, and those of a host name come and go.',
    bad:
      'members:\n  - { hostname: lb.example.net., port: 443, rumUrl: "https://lb.example.net/" ' +
      '}',
    good: named,
  },
} as const satisfies Record<string, DiagnosticSpec>
