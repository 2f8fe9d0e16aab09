// Diagnostics of redirects and delegated domains.
import type { DiagnosticSpec } from './diagnostic-spec.ts'

export const extensionDiagnostics = {
  'redirect-source-duplicate': {
    severity: 'error',
    message: 'another redirect already answers for the host %s',
    help: 'remove one of the two, or give one another sourceFqdn',
    cause:
      'One host has one target, across all tenants; case and the trailing dot make no difference.',
    bad: '# redirects/a.yaml: old.example.com\n# redirects/b.yaml: OLD.example.com.',
    good: '# redirects/b.yaml: older.example.com',
  },
  'redirect-target-not-url': {
    severity: 'error',
    message: '"%s" is not an absolute http or https address',
    help: 'write the whole address, such as https://www.example.com/new',
    cause: 'Browsers would take anything else as relative to the host that is redirected.',
    bad: 'targetUrl: www.example.com/new',
    good: 'targetUrl: https://www.example.com/new',
  },
  'redirect-target-character': {
    severity: 'error',
    message: 'the target has %s in it',
    help: 'percent-encode it, such as %s',
    cause: 'Web servers read the target from their own configuration, where it means something.',
    bad: 'targetUrl: "https://www.example.com/a;b"',
    good: 'targetUrl: "https://www.example.com/a%3Bb"',
  },
  'redirect-code-replaced': {
    severity: 'warning',
    message: 'the status %s is not sent: 301 takes its place',
    help: 'write 301, 302, 307 or 308',
    cause: 'Only these four mean that the client shall go elsewhere and how.',
    bad: 'spec: { sourceFqdn: old.example.com, targetUrl: "https://example.com/", code: 303 }',
    good: 'spec: { sourceFqdn: old.example.com, targetUrl: "https://example.com/", code: 302 }',
  },
  'redirect-to-itself': {
    severity: 'warning',
    message: 'the host %s is sent to itself',
    help: 'write https in targetUrl if that was meant, or another host',
    cause: 'The redirect is sent over plain HTTP, so that the browser comes back to it for ever.',
    bad: 'spec: { sourceFqdn: www.example.com, targetUrl: "http://www.example.com/new" }',
    good: 'spec: { sourceFqdn: www.example.com, targetUrl: "https://www.example.com/new" }',
  },
  'delegated-domain-duplicate': {
    severity: 'error',
    message: 'the domain %s is already registered',
    help: 'remove one of the two',
    cause: 'A domain has one owner, across all tenants; case and the trailing dot do not matter.',
    bad: '# tenants/a/domains/d.yaml: example.com\n# tenants/b/domains/d.yaml: Example.com.',
    good: '# tenants/a/domains/d.yaml: example.com',
  },
  'delegated-domain-overlap': {
    severity: 'warning',
    message: 'the domain %s is inside %s, which belongs to tenant "%s"',
    help: 'make sure that both owners know of it, or register it under one tenant',
    cause: 'Whoever controls the outer domain can take the inner one back at any time.',
    bad: '# tenants/a/domains/d.yaml: example.com\n# tenants/b/domains/d.yaml: eu.example.com',
    good: '# tenants/b/domains/d.yaml: eu.example.net',
  },
} as const satisfies Record<string, DiagnosticSpec>
