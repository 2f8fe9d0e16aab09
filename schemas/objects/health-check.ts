// A health check: how the members of a pool are probed.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { choice } from '#schemas/forms/annotations.ts'
import {
  certificateNamePattern,
  headerNamePattern,
  headerValuePattern,
  hostPattern,
  httpAddressPattern,
  programPathPattern,
  requestPathPattern,
  statusRangePattern,
  textPattern,
} from '#schemas/forms/patterns.ts'

export const probeTypes = ['tcp', 'http', 'icmp', 'script', 'webhook', 'grpc', 'dns'] as const

const Basics = {
  type: choice(probeTypes, {
    description:
      'What a probe does. `tcp` connects; `http` asks for `httpPath` and looks at status and ' +
      'body; `icmp` sends echo requests; `script` runs a program of the node; `webhook` asks ' +
      'another server about the member; `grpc` asks by the gRPC health checking protocol; `dns` ' +
      'asks the member for `dnsName`.',
    default: 'tcp',
  }),
  port: Type.Integer({
    minimum: 1,
    maximum: 65_535,
    default: 80,
    description:
      'Port that is probed, the same for every member of the pool. Type `icmp` ignores it; ' +
      '`script` and `webhook` pass it on; `dns` mostly wants 53.',
  }),
  intervalMs: Type.Integer({
    minimum: 100,
    maximum: 86_400_000,
    default: 10_000,
    description: 'Milliseconds between two probes of a member.',
  }),
  timeoutMs: Type.Integer({
    minimum: 1,
    maximum: 60_000,
    default: 2_000,
    description: 'Milliseconds after which a probe has failed.',
  }),
  riseCount: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 1,
    description: 'Successes in a row that make an unhealthy member healthy.',
  }),
  fallCount: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 1,
    description: 'Failures in a row that make a healthy member unhealthy.',
  }),
  scoreWindow: Type.Integer({
    minimum: 0,
    maximum: 1_000,
    default: 0,
    description: 'The last probes that make up the score of a member; 0 disables scoring.',
  }),
}

const Http = {
  httpMethod: choice(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'], {
    description: 'Method of the request; none of them sends a body.',
    default: 'GET',
  }),
  httpPath: Type.String({
    maxLength: 2_048,
    pattern: requestPathPattern,
    default: '/',
    description: 'Path and query to ask for; printable ASCII, the rest percent-encoded.',
  }),
  httpHost: Type.String({
    maxLength: 255,
    pattern: hostPattern,
    default: '',
    description:
      'Overrides the Host header and the TLS server name; the connection still goes to the ' +
      "member's address. Empty: the member's address. Also of type `grpc`.",
  }),
  httpHeaders: Type.Record(
    Type.String({ pattern: headerNamePattern }),
    Type.String({ maxLength: 1_024, pattern: headerValuePattern }),
    {
      maxProperties: 32,
      additionalProperties: false,
      default: {},
      description:
        'Header fields to send, by name. No secrets: all who read the configuration see them.',
    },
  ),
  httpExpectedStatus: Type.Integer({
    minimum: 0,
    maximum: 599,
    default: 200,
    description: 'Status that counts as healthy; 0 ignores the status.',
  }),
  httpExpectedStatuses: Type.Array(
    Type.Unsafe<number | string>({
      type: ['integer', 'string'],
      minimum: 100,
      maximum: 599,
      pattern: statusRangePattern,
    }),
    {
      maxItems: 50,
      default: [],
      description:
        'Statuses that count as healthy, each a number or a range: `[200, "300-399"]`. When it ' +
        'has any, `httpExpectedStatus` has no effect.',
    },
  ),
  httpContains: Type.String({
    maxLength: 4_096,
    default: '',
    description: 'Text that the first 1 MB of the body must contain; empty ignores the body.',
  }),
  tls: Type.Boolean({ default: false, description: 'Use HTTPS; for `grpc`, TLS.' }),
  insecureSkipVerify: Type.Boolean({
    default: false,
    description: 'Accept any certificate. The compiler warns when it is true.',
  }),
  clientCertificate: Type.String({
    maxLength: 63,
    pattern: certificateNamePattern,
    default: '',
    description:
      'Client certificate that the node shows over TLS, by its name in the setting ' +
      '`health.clientCertificates` of the nodes; for `http` and `grpc`. Empty: none.',
  }),
}

const Icmp = {
  icmpCount: Type.Integer({
    minimum: 1,
    maximum: 20,
    default: 3,
    description: 'Echo requests per probe of type `icmp`; one reply is enough.',
  }),
}

const Script = {
  scriptPath: Type.String({
    maxLength: 4_096,
    pattern: programPathPattern,
    default: '',
    description: 'Program on the node that type `script` runs: an absolute path.',
  }),
  scriptContent: Type.String({
    maxLength: 65_536,
    default: '',
    description:
      'Program text that type `script` runs, by the interpreter that its first line names with ' +
      '`#!`, else by `/bin/sh`. Goes before `scriptPath`.',
  }),
}

const Webhook = {
  webhookURL: Type.String({
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

const Grpc = {
  grpcService: Type.String({
    maxLength: 255,
    pattern: hostPattern,
    default: '',
    description: 'Service that type `grpc` asks about; empty asks about the whole server.',
  }),
}

const Dns = {
  dnsName: Type.String({
    maxLength: 254,
    pattern: hostPattern,
    default: '',
    description: 'Name that type `dns` asks for.',
  }),
  dnsType: choice(['A', 'AAAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'TXT'], {
    description: 'Record type that it asks for.',
    default: 'A',
  }),
  dnsRcode: choice(['NOERROR', 'NXDOMAIN', 'REFUSED', 'SERVFAIL', 'NOTIMP', 'FORMERR'], {
    description: 'Response code that counts as healthy.',
    default: 'NOERROR',
  }),
  dnsContains: Type.String({
    maxLength: 255,
    pattern: textPattern,
    default: '',
    description:
      'What one record of that type in the answer must hold, as `dig +short` shows it: ' +
      '`192.0.2.10`, `10 mail.example.com.`; of SOA and TXT a part is enough. Empty ignores the ' +
      'records.',
  }),
}

export const HealthCheck = Type.Object(
  { ...Basics, ...Http, ...Icmp, ...Script, ...Webhook, ...Grpc, ...Dns },
  {
    additionalProperties: false,
    description:
      'How the members are probed. Without it no probes are sent and every member counts as ' +
      'healthy.',
  },
)
export type HealthCheck = Static<typeof HealthCheck>
