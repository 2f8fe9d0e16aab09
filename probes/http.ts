// Checks of type http: a request that a server can answer, without secrets.
import {
  certificateNamePattern,
  headerNamePattern,
  headerValuePattern,
  hostPattern,
  requestPathPattern,
  statusRangePattern,
} from '#lib/text/patterns.ts'
import { choice, count, flag, isCount, isText, text } from './check-field.ts'
import type { CheckField } from './check-field.ts'
import { keyAt, valueAt } from './probe-type.ts'
import type { CheckDiagnostics, CheckOf, CheckReport, ProbeType } from './probe-type.ts'

type Texts = Readonly<Record<string, string>>

const httpHeaders: CheckField<Texts, Texts> = {
  schema: {
    type: 'object',
    patternProperties: {
      [headerNamePattern]: { type: 'string', maxLength: 1_024, pattern: headerValuePattern },
    },
    maxProperties: 32,
    additionalProperties: false,
    default: {},
    description:
      'Header fields to send, by name. No secrets: all who read the configuration see them.',
  },
  fits(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    return Object.values(value).every(isText)
  },
}

/** From and to, inclusive. */
type StatusRange = readonly [from: number, to: number]

type Statuses = readonly (number | string)[]

const httpExpectedStatuses: CheckField<Statuses, readonly StatusRange[]> = {
  schema: {
    type: 'array',
    items: {
      type: ['integer', 'string'],
      minimum: 100,
      maximum: 599,
      pattern: statusRangePattern,
    },
    maxItems: 50,
    default: [],
    description:
      'Statuses that count as healthy, each a number or a range: `[200, "300-399"]`. When it ' +
      'has any, `httpExpectedStatus` has no effect.',
  },
  fits: (value) =>
    Array.isArray(value) &&
    value.every((range) => Array.isArray(range) && range.length === 2 && range.every(isCount)),
  lower: (written) => statusRanges(written as Statuses),
}

const fields = {
  httpMethod: choice(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'], {
    description: 'Method of the request; none of them sends a body.',
    default: 'GET',
  }),
  httpPath: text({
    maxLength: 2_048,
    pattern: requestPathPattern,
    default: '/',
    description: 'Path and query to ask for; printable ASCII, the rest percent-encoded.',
  }),
  httpHost: text({
    maxLength: 255,
    pattern: hostPattern,
    default: '',
    description:
      'Overrides the Host header and the TLS server name; the connection still goes to the ' +
      "member's address. Empty: the member's address. Also of type `grpc`.",
  }),
  httpHeaders,
  httpExpectedStatus: count({
    minimum: 0,
    maximum: 599,
    default: 200,
    description: 'Status that counts as healthy; 0 ignores the status.',
  }),
  httpExpectedStatuses,
  httpContains: text({
    maxLength: 4_096,
    default: '',
    description: 'Text that the first 1 MB of the body must contain; empty ignores the body.',
  }),
  tls: flag('Use HTTPS; for `grpc`, TLS.'),
  insecureSkipVerify: flag('Accept any certificate. The compiler warns when it is true.'),
  clientCertificate: text({
    maxLength: 63,
    pattern: certificateNamePattern,
    default: '',
    description:
      'Client certificate that the node shows over TLS, by its name in the setting ' +
      '`health.clientCertificates` of the nodes; for `http` and `grpc`. Empty: none.',
  }),
}

const diagnostics = {
  'health-check-status': {
    severity: 'error',
    message: 'no server answers with the status %s',
    help: 'write a status from 100 to 599; 0 lets each of them count as healthy',
    cause: 'Statuses of HTTP have three digits: no member could ever be healthy.',
    bad: 'healthCheck: { type: http, httpExpectedStatus: 20 }',
    good: 'healthCheck: { type: http, httpExpectedStatus: 200 }',
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
} as const satisfies CheckDiagnostics

export const http = {
  name: 'http',
  does: 'asks for `httpPath` and looks at status and body',
  fields,
  diagnostics,
  findFaults,
} as const satisfies ProbeType

/** Headers that tell how the message is sent, and to whom. RFC 9110 sections 7.2, 7.6.1, 10.1.1. */
const framing: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const secrets: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization'])

type Check = CheckOf<typeof fields>
type Report = CheckReport<keyof typeof diagnostics>

function findFaults(check: Check, report: Report): void {
  findStatusFaults(check, report)
  for (const name of Object.keys(check.httpHeaders)) {
    const at = keyAt('httpHeaders', name)
    if (framing.has(name.toLowerCase())) report('health-check-header', at, [name])
    if (secrets.has(name.toLowerCase())) report('health-check-header-secret', at, [name])
  }
  if (check.type === 'http' && check.httpMethod === 'HEAD' && check.httpContains !== '')
    report('health-check-head-contains', keyAt('httpContains'))
}

function findStatusFaults(check: Check, report: Report): void {
  const { httpExpectedStatus: status, httpExpectedStatuses: statuses } = check
  if (status > 0 && status < 100)
    report('health-check-status', valueAt('httpExpectedStatus'), [String(status)])
  for (const [i, [from, to]] of statusRanges(statuses).entries()) {
    if (from <= to) continue
    const args = [`${from}-${to}`, `${to}-${from}`]
    report('health-check-status-range', valueAt('httpExpectedStatuses', i), args)
  }
  if (statuses.length > 0 && status !== 200)
    report('health-check-status-twice', keyAt('httpExpectedStatus'))
}

/** `200` and `"200-299"` as what they reach from and to. */
function statusRanges(statuses: Statuses): readonly StatusRange[] {
  return statuses.map((status) => {
    const [from, to] = String(status).split('-').map(Number) as [number, number?]
    return [from, to ?? from]
  })
}
