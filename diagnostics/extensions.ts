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
  'redirect-target-hidden': {
    severity: 'error',
    message: 'the target has the invisible character %s in it',
    help: 'remove it, or percent-encode it: %s',
    cause: 'It makes an address look like another one to whoever reads it (CVE-2021-42574).',
    bad: 'targetUrl: "https://www.example.com/\\u202Egpj.exe"',
    good: 'targetUrl: https://www.example.com/exe.jpg',
  },
  'redirect-target-user': {
    severity: 'error',
    message: 'the target has a user or a password in it',
    help: 'remove what stands before the @: the host is %s',
    cause:
      'Everybody who asks would be told it. In front of a host it is also how people are led to ' +
      'another one than they think.',
    bad: 'targetUrl: "https://ann:secret@www.example.com/"',
    good: 'targetUrl: https://www.example.com/',
  },
  'redirect-target-host': {
    severity: 'error',
    message: 'no host is called "%s"',
    help: 'write a host name of letters, digits and hyphens, or an address',
    cause: 'A label has 1 to 63 characters and a name at most 253 (RFC 1035 section 2.3.4).',
    bad: 'targetUrl: "https://www..example.com/"',
    good: 'targetUrl: https://www.example.com/',
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
  'redirect-loop-https': {
    severity: 'note',
    message: 'over https this leads in a circle: %s',
    help: 'let another server answer https there, or let one of them lead to a host of its own',
    cause:
      'Where the redirect listener answers https as well (redirect.https), or a server that gets ' +
      'the redirects does, the browser comes back for ever.',
    bad: '# redirect.https.port: 443\n# a.example.com: https://a.example.com',
    good: '# a.example.com: https://www.example.com',
  },
  'redirect-target-query': {
    severity: 'warning',
    message: 'the path of a request comes behind the query of the target',
    help: 'take the query out of targetUrl, or write preservePath: false',
    cause: 'With preservePath, path and query are appended to the target as they are.',
    bad: 'targetUrl: "https://www.example.com/?from=old"',
    good: 'targetUrl: "https://www.example.com/?from=old"\npreservePath: false',
  },
  'redirect-loop': {
    severity: 'warning',
    message: 'redirects lead in a circle: %s',
    help: 'let one of them lead to https, or to a host without a redirect',
    cause: 'A browser follows them until it gives up.',
    bad: '# a.example.com: http://b.example.com\n# b.example.com: http://a.example.com',
    good: '# a.example.com: http://b.example.com\n# b.example.com: https://www.example.com',
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
    message: 'the domain %s is inside %s, which belongs to another tenant',
    help: 'make sure that both owners know of it, or register it under one tenant',
    cause: 'The owner of the outer domain can take the inner one back at any time.',
    bad: '# tenants/a/domains/d.yaml: example.com\n# tenants/b/domains/d.yaml: eu.example.com',
    good: '# tenants/b/domains/d.yaml: eu.example.net',
  },
  'delegated-domain-gives-nothing': {
    severity: 'warning',
    message: 'the domain %s gives tenant "%s" no names: the zone %s is for others',
    help:
      'add the tenant to `tenants` of the zone, write `delegated: true` there, or move the ' +
      'domain to the folder of one of its tenants',
    cause:
      'In a zone that names its tenants, delegated domains give names only where the zone says ' +
      '`delegated: true`. Without it, the delegation alone is checked.',
    bad: '# example.com. has tenants: [a]\n# tenants/b/domains/d.yaml: example.com',
    good: '# example.com. has tenants: [a]\n# tenants/a/domains/d.yaml: example.com',
  },
} as const satisfies Record<string, DiagnosticSpec>
