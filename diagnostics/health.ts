// Diagnostics of health checks, and of what the nodes do not allow them.
import type { DiagnosticSpec } from './diagnostic-spec.ts'

export const healthDiagnostics = {
  'health-check-script-missing': {
    severity: 'error',
    message: 'a check of type script names no script',
    help: 'add scriptContent or scriptPath',
    cause: 'There is nothing to run, so that no member could ever be healthy.',
    bad: 'healthCheck: { type: script }',
    good: 'healthCheck: { type: script, scriptPath: /usr/lib/gslbd/check }',
  },
  'health-check-script-twice': {
    severity: 'warning',
    message: 'scriptPath has no effect beside scriptContent',
    help: 'keep one of the two',
    cause: 'The text goes before the program of the node.',
    bad: 'healthCheck: { type: script, scriptPath: /usr/lib/gslbd/check, scriptContent: exit 0 }',
    good: 'healthCheck: { type: script, scriptPath: /usr/lib/gslbd/check }',
  },
  'health-check-script-disabled': {
    severity: 'error',
    message: 'the nodes run no scripts as health checks',
    help:
      'set health.allowScriptChecks in the settings of the nodes (in gslbd check: ' +
      '--allow-script-checks), or choose another type',
    cause:
      'A script runs with the rights of the server, so that a node must allow it. Until then the ' +
      'members would count as healthy, whatever they do.',
    bad: 'healthCheck: { type: script, scriptPath: /usr/lib/gslbd/check }',
    good: 'healthCheck: { type: http, httpPath: /healthz }',
  },
  'health-check-script-ignored': {
    severity: 'warning',
    message: 'this node runs no scripts as health checks, so that the pool has no check',
    help: 'set health.allowScriptChecks in the settings of the nodes, or choose another type',
    cause:
      'A script runs with the rights of the server, so that a node must allow it. Until then the ' +
      'members count as healthy, whatever they do. gslbd check refuses such a file.',
    bad: 'healthCheck: { type: script, scriptPath: /usr/lib/gslbd/check }',
    good: 'healthCheck: { type: http, httpPath: /healthz }',
  },
  'health-check-webhook-missing': {
    severity: 'error',
    message: 'a check of type webhook has no webhookURL',
    help: 'add webhookURL, such as https://hc.example.com/probe',
    cause: 'There is nobody to ask, so that no member could ever be healthy.',
    bad: 'healthCheck: { type: webhook }',
    good: 'healthCheck: { type: webhook, webhookURL: "https://hc.example.com/probe" }',
  },
  'health-check-webhook-url': {
    severity: 'error',
    message: '"%s" is not an absolute http or https address',
    help: 'write one such as https://hc.example.com/probe',
    cause: 'No server can be made out in it.',
    bad: 'healthCheck: { type: webhook, webhookURL: "https://:8443/" }',
    good: 'healthCheck: { type: webhook, webhookURL: "https://hc.example.com:8443/" }',
  },
  'health-check-webhook-credentials': {
    severity: 'error',
    message: 'webhookURL holds a name or password',
    help: 'remove it from the address and from the history of the repository',
    cause: 'Everybody who may read the configuration could use it; it would not be sent, either.',
    bad: 'healthCheck: { type: webhook, webhookURL: "https://user:password@hc.example.com/" }',
    good: 'healthCheck: { type: webhook, webhookURL: "https://hc.example.com/" }',
  },
  'health-check-webhook-internal': {
    severity: 'error',
    message: 'the nodes ask no webhook at the internal address %s',
    help:
      'name a public server, or add the address to health.webhookAllowedHosts in the settings of ' +
      'the nodes (in gslbd check: --webhook-allowed-host)',
    cause:
      'Users who may edit the configuration could make the nodes call servers that only nodes ' +
      'can reach: loopback, private and shared networks, cloud metadata. Nor is there a public ' +
      'server in a range for documentation or another special purpose, such as 192.0.2.0/24. ' +
      'A name is checked when it is asked.',
    bad: 'healthCheck: { type: webhook, webhookURL: "http://169.254.169.254/" }',
    good: 'healthCheck: { type: webhook, webhookURL: "https://hc.example.com/" }',
  },
  'health-check-status-range': {
    severity: 'error',
    message: 'the range %s ends before it begins',
    help: 'write "%s"',
    cause: 'No status is in it, so that no member could ever be healthy by it.',
    bad: 'healthCheck: { type: http, httpExpectedStatuses: ["299-200"] }',
    good: 'healthCheck: { type: http, httpExpectedStatuses: ["200-299"] }',
  },
  'health-check-status-twice': {
    severity: 'warning',
    message: 'httpExpectedStatus has no effect beside httpExpectedStatuses',
    help: 'remove it, and list its status with the others',
    cause: 'Where statuses are listed, only they count.',
    bad: 'healthCheck: { type: http, httpExpectedStatus: 204, httpExpectedStatuses: [200, 301] }',
    good: 'healthCheck: { type: http, httpExpectedStatuses: [200, 204, 301] }',
  },
  'health-check-header': {
    severity: 'error',
    message: 'the header field %s is written by the node',
    help: 'remove it; the Host of a request is set with httpHost',
    cause: 'It says how the request is sent, or to whom.',
    bad: 'healthCheck: { type: http, httpHeaders: { Host: www.example.com } }',
    good: 'healthCheck: { type: http, httpHost: www.example.com }',
  },
  'health-check-header-secret': {
    severity: 'error',
    message: 'the header field %s holds a secret',
    help: 'remove it here and from the history of the repository; use a clientCertificate',
    cause: 'Everybody who may read the configuration could use it.',
    bad: 'healthCheck: { type: http, tls: true, httpHeaders: { Authorization: "Bearer abc" } }',
    good: 'healthCheck: { type: http, tls: true, clientCertificate: probes }',
  },
  'health-check-head-contains': {
    severity: 'error',
    message: 'the answer to a HEAD request has no body',
    help: 'write httpMethod: GET, or remove httpContains',
    cause: 'The text could never be found, so that no member could ever be healthy.',
    bad: 'healthCheck: { type: http, httpMethod: HEAD, httpContains: ok }',
    good: 'healthCheck: { type: http, httpContains: ok }',
  },
  'health-check-certificate-without-tls': {
    severity: 'warning',
    message: 'clientCertificate has no effect without tls',
    help: 'write tls: true, or remove it',
    cause: 'Certificates are shown over TLS only.',
    bad: 'healthCheck: { type: http, clientCertificate: probes }',
    good: 'healthCheck: { type: http, tls: true, clientCertificate: probes }',
  },
  'health-check-certificate-unknown': {
    severity: 'error',
    message: 'the nodes have no client certificate "%s" for this tenant',
    help:
      'name one of health.clientCertificates in the settings of the nodes, or add it there with ' +
      'this tenant among its tenants (in gslbd check: --client-certificate NAME)',
    cause: 'Keys are never in the repository: a check names a certificate that the nodes have.',
    bad: 'healthCheck: { type: http, tls: true, clientCertificate: nobody }',
    good: 'healthCheck: { type: http, tls: true }',
  },
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
} as const satisfies Record<string, DiagnosticSpec>
