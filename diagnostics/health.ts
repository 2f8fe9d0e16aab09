// Diagnostics of health checks, and of what the nodes do not allow them.
import { probeDiagnostics } from '#probes/probe-types.ts'
import type { DiagnosticSpec } from './diagnostic-spec.ts'

export const healthDiagnostics = {
  ...probeDiagnostics,
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
} as const satisfies Record<string, DiagnosticSpec>
