// Checks of type webhook: an address that names a server and holds no secret.
import { httpAddressPattern } from '#lib/text/patterns.ts'
import { choice, text } from './check-field.ts'
import { valueAt } from './probe-type.ts'
import type { CheckDiagnostics, CheckOf, CheckReport, ProbeType } from './probe-type.ts'

const fields = {
  webhookURL: text({
    maxLength: 2_048,
    pattern: httpAddressPattern,
    default: '',
    description: 'Address that type `webhook` asks; a 2xx status says that the member is healthy.',
  }),
  webhookMethod: choice(['POST', 'GET'], {
    description: '`POST` sends `{"ip": …, "port": …}` of the member; `GET` sends no body.',
    default: 'POST',
  }),
}

const diagnostics = {
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
} as const satisfies CheckDiagnostics

export const webhook = {
  name: 'webhook',
  does: 'asks another server about the member',
  port: 'passed on',
  measuresNothing: true,
  fields,
  diagnostics,
  findFaults,
} as const satisfies ProbeType

function findFaults(
  { type, webhookURL }: CheckOf<typeof fields>,
  report: CheckReport<keyof typeof diagnostics>,
): void {
  if (type !== 'webhook') return
  if (webhookURL === '') return report('health-check-webhook-missing', valueAt('type'))
  const url = URL.parse(webhookURL)
  if (url === null) report('health-check-webhook-url', valueAt('webhookURL'), [webhookURL])
  else if (url.username !== '' || url.password !== '')
    report('health-check-webhook-credentials', valueAt('webhookURL'))
}
