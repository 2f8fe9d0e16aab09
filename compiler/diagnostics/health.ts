// What can be wrong with what a health check runs or asks, and what the nodes do not allow.
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
    cause: 'Whoever may read the configuration could use it; it would not be sent, either.',
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
      'Whoever may edit the configuration could make the nodes call servers that only they can ' +
      'reach: loopback, private and shared networks, cloud metadata. A name is checked when it ' +
      'is asked.',
    bad: 'healthCheck: { type: webhook, webhookURL: "http://169.254.169.254/" }',
    good: 'healthCheck: { type: webhook, webhookURL: "https://hc.example.com/" }',
  },
} as const satisfies Record<string, DiagnosticSpec>
