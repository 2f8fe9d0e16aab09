// Diagnostics of pools, members and their health checks.
import type { DiagnosticSpec } from './diagnostic-spec.ts'

export const poolDiagnostics = {
  'member-duplicate': {
    severity: 'error',
    message: 'the member %s port %s is listed twice',
    help: 'remove one of the two; use weight to give it a larger share',
    cause: 'A member is identified by its address and port.',
    bad:
      'members:\n  - { ipAddress: 192.0.2.10, port: 443 }\n  - { ipAddress: 192.0.2.10, ' +
      'port: 443 }',
    good: 'members:\n  - { ipAddress: 192.0.2.10, port: 443, weight: 2 }',
  },
  'member-address-duplicate': {
    severity: 'warning',
    message: 'the address %s has another member with another port',
    help: 'keep one: DNS answers hold no ports, and the health status is kept by address',
    cause: 'Both members give the same answer, and the status of the pool shows only one of them.',
    bad:
      'members:\n  - { ipAddress: 192.0.2.10, port: 80 }\n  - { ipAddress: 192.0.2.10, ' +
      'port: 443 }',
    good: 'members:\n  - { ipAddress: 192.0.2.10, port: 443 }',
  },
  'pool-empty': {
    severity: 'warning',
    message: 'the pool "%s" has no members',
    help: 'add members; until then its services answer without records',
    cause: 'There is nothing to choose from.',
    bad: 'spec: {}',
    good: 'spec:\n  members:\n    - { ipAddress: 192.0.2.10, port: 443 }',
  },
  'pool-inactive': {
    severity: 'warning',
    message: 'no member of the pool "%s" can be answered',
    help: 'enable a member',
    cause: 'Every member is disabled.',
    bad: 'members:\n  - { ipAddress: 192.0.2.10, port: 443, enabled: false }',
    good: 'members:\n  - { ipAddress: 192.0.2.10, port: 443 }',
  },
  'pool-family-inactive': {
    severity: 'warning',
    message: 'no %s member of the pool "%s" can be answered',
    help: 'enable one, or remove those of that family',
    cause:
      'Every member of the family is disabled: its clients get no records, while those of the ' +
      'other family do.',
    bad:
      'members:\n  - { ipAddress: 192.0.2.10, port: 443 }\n  - { ipAddress: "2001:db8::10", ' +
      'port: 443, enabled: false }',
    good:
      'members:\n  - { ipAddress: 192.0.2.10, port: 443 }\n  - { ipAddress: "2001:db8::10", ' +
      'port: 443 }',
  },
  'service-too-large': {
    severity: 'warning',
    message: '%s %s records of %s are a message of %s octets, and DNS has %s at most',
    help: 'use fewer members, or several names, where the zone is transferred to secondary servers',
    cause:
      'Nodes answer `answerCount` of them at most. A transfer shows all, and a secondary server ' +
      'cannot answer them: it truncates, over TCP, too, or says SERVFAIL.',
    bad: 'spec: { domain: www.example.com., pool: web } # of 2400 IPv6 addresses',
    good: 'spec: { domain: www.example.com., pool: web } # of 2000',
  },
  'pool-weightless': {
    severity: 'warning',
    message: 'every enabled %s member of the pool "%s" has the weight 0, and "%s" goes by weight',
    help: 'give one of them a weight of 1 or more, or the service an algorithm without weights',
    cause: 'Where answers are divided by weight, a member of weight 0 gets none of them.',
    bad:
      '# algorithm: weighted-round-robin\nmembers:\n' +
      '  - { ipAddress: 192.0.2.10, port: 443, weight: 0 }',
    good:
      '# algorithm: weighted-round-robin\nmembers:\n' +
      '  - { ipAddress: 192.0.2.10, port: 443, weight: 1 }',
  },
  'min-healthy-above-members': {
    severity: 'error',
    message: 'minHealthy is %s and the pool has %s',
    help: 'lower minHealthy, or add members',
    cause:
      'With fewer healthy members than minHealthy a pool answers nothing: this one never would.',
    bad: 'spec:\n  minHealthy: 2\n  members:\n    - { ipAddress: 192.0.2.10, port: 443 }',
    good: 'spec:\n  minHealthy: 1\n  members:\n    - { ipAddress: 192.0.2.10, port: 443 }',
  },
  'min-healthy-above-enabled': {
    severity: 'warning',
    message: 'minHealthy is %s and only %s enabled',
    help: 'lower minHealthy, or enable members',
    cause: 'Until more members are enabled the pool answers nothing.',
    bad:
      'spec:\n  minHealthy: 2\n  members:\n    - { ipAddress: 192.0.2.10, port: 443 }\n    - { ' +
      'ipAddress: 192.0.2.11, port: 443, enabled: false }',
    good:
      'spec:\n  minHealthy: 1\n  members:\n    - { ipAddress: 192.0.2.10, port: 443 }\n    - { ' +
      'ipAddress: 192.0.2.11, port: 443, enabled: false }',
  },
  'warmup-without-check': {
    severity: 'warning',
    message: 'a warm-up of %s probes without a health check has no effect',
    help: 'give the pool a healthCheck, or remove warmupThreshold',
    cause: 'The gate counts probes; where nobody probes, a new member is used at once.',
    bad: 'members:\n  - { ipAddress: 192.0.2.10, port: 443, warmupThreshold: 3 }',
    good:
      'healthCheck: { type: tcp, port: 443 }\nmembers:\n  - { ipAddress: 192.0.2.10, port: 443, ' +
      'warmupThreshold: 3 }',
  },
  'rum-url-invalid': {
    severity: 'error',
    message: '"%s" is not an address that a browser could load',
    help: 'write an absolute address such as https://fra1.example.com/pixel.gif',
    cause: 'Browsers measure a member by loading this address.',
    bad: 'members:\n  - { ipAddress: 192.0.2.10, port: 443, rumUrl: "https://[2001:db8::1/" }',
    good: 'members:\n  - { ipAddress: 192.0.2.10, port: 443, rumUrl: "https://[2001:db8::1]/" }',
  },
  'pool-unused': {
    severity: 'note',
    message: 'no service uses the pool "%s"',
    help: 'name it in the pool field of a service, or remove it',
    cause: 'The pool is probed and has no effect on answers.',
    bad: '# pools/web.yaml, and no service with pool: web',
    good: '# services/www.yaml\nspec: { domain: www.example.com., pool: web }',
  },
  'health-check-without-members': {
    severity: 'warning',
    message: 'the pool "%s" has a health check and no members',
    help: 'add members, or remove the health check',
    cause: 'There is nothing to probe.',
    bad: 'spec:\n  healthCheck: { type: tcp, port: 443 }',
    good:
      'spec:\n  healthCheck: { type: tcp, port: 443 }\n  members:\n    - { ipAddress: ' +
      '192.0.2.10, port: 443 }',
  },
  'health-check-slow': {
    severity: 'warning',
    message: 'a probe may take %s ms, longer than the %s ms between two probes',
    help: 'make timeoutMs at most intervalMs',
    cause:
      'A probe that hangs delays the next one, so that a failure is seen later than the ' +
      'interval says.',
    bad: 'healthCheck: { intervalMs: 1000, timeoutMs: 2000 }',
    good: 'healthCheck: { intervalMs: 1000, timeoutMs: 500 }',
  },
  'health-check-count-ignored': {
    severity: 'warning',
    message: '%s has no effect with a scoreWindow of %s',
    help: 'remove one of the two',
    cause:
      'With a scoreWindow a member is healthy while any of the last probes passed, however many ' +
      'in a row failed or passed.',
    bad: 'healthCheck: { scoreWindow: 10, fallCount: 3 }',
    good: 'healthCheck: { scoreWindow: 10 }',
  },
  'health-check-ignored-field': {
    severity: 'warning',
    message: '%s has no effect on a check of type %s',
    help: 'write type: %s, or remove the field',
    cause: 'The field belongs to another type of check.',
    bad: 'healthCheck: { type: tcp, httpPath: /healthz }',
    good: 'healthCheck: { type: http, httpPath: /healthz }',
  },
  'health-check-insecure': {
    severity: 'warning',
    message: 'the certificates of the members are not checked',
    help: 'remove insecureSkipVerify, and set httpHost to the name in the certificate',
    cause: 'An attacker who can intercept a probe can make a member look healthy.',
    bad: 'healthCheck: { type: http, tls: true, insecureSkipVerify: true }',
    good: 'healthCheck: { type: http, tls: true, httpHost: www.example.com }',
  },
} as const satisfies Record<string, DiagnosticSpec>
