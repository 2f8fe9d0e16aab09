// The section `redirect` of gslbd.yaml: the listener, and the servers that get the rules as well.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import {
  boolean,
  duration,
  integer,
  list,
  section,
  serverCertificates,
  text,
} from '#settings/forms/forms.ts'

const timeout = (description: string) =>
  duration({ default: '10s', minimumMs: 1_000, maximumMs: 3_600_000, description })
const port = (description: string) =>
  integer(0, 65_535, {
    'x-default': 'none',
    'x-expected': 'a whole number from 0 to 65535',
    description,
  })
const enabled = (what: string) =>
  boolean({ default: false, description: `Whether redirects are written ${what}.` })
/** Name of a Kubernetes object (RFC 1123). */
const objectName = (description: string) =>
  text(253, {
    default: '',
    pattern: '^([a-z0-9]([a-z0-9.-]*[a-z0-9])?)?$',
    'x-expected': 'a name in small letters, digits, dashes and dots',
    description,
  })

const caddy = section('The admin API of a Caddy server.', {
  enabled: enabled('there'),
  adminUrl: text(2_000, {
    default: 'http://localhost:2019',
    'x-kind': 'url',
    description: 'Address of its admin API.',
  }),
  serverName: text(255, {
    default: 'srv0',
    pattern: '^[A-Za-z0-9_.-]+$',
    'x-expected': 'letters, digits, dots, dashes and underscores',
    description: 'Name of the HTTP server in its configuration; it must be there.',
  }),
})

const nginx = section('A file that an nginx server includes.', {
  enabled: enabled('into it'),
  configDir: text(4_096, {
    'x-kind': 'path',
    'x-default': 'none',
    description: 'Directory of the file, which this process may write. Required when enabled.',
  }),
  configFile: text(255, {
    default: 'svc-redirects.conf',
    pattern: '^(?!\\.{1,2}$)[^/\\0]+$',
    'x-expected': 'the name of a file, without its directory',
    description: 'Name of the file. It is replaced whole.',
  }),
  listen: list(64, {
    default: [],
    'x-expected': 'a list of what `listen` takes, such as ["80", "[::]:80"]',
    description:
      'What each of its server blocks listens on, as nginx writes it. Empty: nothing is written, ' +
      'and nginx takes port 80 of IPv4.',
  }),
  reloadCommand: text(4_096, {
    default: 'nginx -s reload',
    pattern: '^\\s*\\S.*$',
    'x-expected': 'a command',
    description:
      'Runs after each change of the file. It is split at white space; there is no shell.',
  }),
})

const gatewayAPI = section('HTTPRoutes of the Kubernetes Gateway API.', {
  enabled: enabled('as HTTPRoutes'),
  kubeconfig: text(4_096, {
    default: '',
    pattern: '^(/[^\\0]*)?$',
    'x-expected': 'an absolute path, or nothing',
    description: 'A kubeconfig file. Empty: the account of the pod that this runs in.',
  }),
  gatewayName: objectName('Name of the gateway that the routes belong to.'),
  gatewayNamespace: objectName('Namespace of that gateway.'),
  httprouteNamespace: objectName(
    'Namespace of the routes. In it, the account has to get, list, create, update and delete them.',
  ),
})

const zoneForm = Type.Object(
  {
    zoneId: Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' }),
    domains: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { maxItems: 1_000 }),
    ),
  },
  { additionalProperties: false },
)

const cdn = section('Redirect rules of a CDN: rulesets as Cloudflare has them.', {
  enabled: enabled('there'),
  apiUrl: text(2_000, {
    default: 'https://api.cloudflare.com/client/v4',
    'x-kind': 'url',
    description: 'Address of its API.',
  }),
  apiToken: text(1_024, {
    default: '',
    pattern: '^[!-~]*$',
    'x-secret': true,
    'x-expected': 'a token in printable ASCII, without blanks',
    description:
      'Token that may edit the redirect rules of each zone. It belongs in ' +
      'GSLB_REDIRECT_CDN_TOKEN.',
  }),
  zones: Type.Optional(
    Type.Array(zoneForm, {
      default: [],
      maxItems: 1_000,
      'x-expected':
        'a list of zones, each { zoneId: ID, domains: [HOST, …] }; without domains it takes all ' +
        'that no other zone has',
      description:
        'Zones of the CDN, looked at in order: the first that has the host, or a suffix of it, ' +
        'gets the rule. One without `domains` gets what no other has.',
    }),
  ),
})

const challengeForm = Type.Object(
  {
    hosts: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
      minItems: 1,
      maxItems: 1_000,
    }),
    members: Type.Array(
      Type.String({ maxLength: 64, pattern: '^([0-9.]+|\\[[0-9a-fA-F:.]+\\]):[0-9]{1,5}$' }),
      { minItems: 1, maxItems: 16 },
    ),
  },
  { additionalProperties: false },
)

const https = section('The same over https.', {
  port: port('TCP port for https. Without one there is no https; 0 takes a free one and logs it.'),
  certificates: serverCertificates('PEM files'),
  acme: boolean({
    default: false,
    description:
      'Whether the certificate of `acme` is shown as well, where none of the files is for the ' +
      'name. Nodes of the role `dns` get it from control nodes. ' +
      '[More](../operations/certificates.md).',
  }),
})

export const redirect = section('HTTP redirects. [More](../operations/redirects.md).', {
  enabled: boolean({ default: false, description: 'Whether the redirect listener runs.' }),
  listenAddr: text(45, {
    default: '0.0.0.0',
    'x-kind': 'address',
    description: 'Its address. `::` takes IPv6 and IPv4.',
  }),
  port: port('TCP port for HTTP, required when enabled. 0 takes a free one and logs it.'),
  idleTimeout: timeout('A connection without a request for this long is closed.'),
  requestTimeout: timeout('A request whose headers take longer is answered 408.'),
  maxConnections: integer(1, 1_000_000, {
    default: 10_000,
    description: 'Open connections. What comes beyond it is closed at once.',
  }),
  maxPerClient: integer(1, 1_000_000, {
    default: 1_000,
    description: 'Open connections from one client: an IPv4 address, or an IPv6 /64.',
  }),
  accessLog: text(4_096, {
    'x-kind': 'path',
    'x-default': 'none',
    description: 'File that gets a line of JSON for each request; SIGHUP opens it anew.',
  }),
  https,
  acme: boolean({
    default: false,
    description:
      'Whether the listeners of the fleet answer the HTTP challenges of `acme`: names in no zone ' +
      'of this installation are proven so. [More](../operations/certificates.md#by-http).',
  }),
  challenges: Type.Optional(
    Type.Array(challengeForm, {
      default: [],
      maxItems: 1_000,
      'x-expected':
        'a list of rules, each { hosts: [HOST, …], members: [ADDRESS:PORT, …] }, such as ' +
        '{ hosts: [www.example.com], members: ["192.0.2.1:80"] }',
      description:
        'Hosts whose members get certificates themselves: a request for ' +
        '`/.well-known/acme-challenge/` is answered with what the first of them says that has it.',
    }),
  ),
  reconcileInterval: duration({
    default: '1m',
    minimumMs: 1_000,
    maximumMs: 86_400_000,
    description:
      'How often the servers below are compared with the redirects, and mended. A change is ' +
      'written at once.',
  }),
  caddy,
  nginx,
  gatewayAPI,
  cdn,
})
export type RedirectSection = Static<typeof redirect>

/** Returns sentences for the operator about what an enabled section lacks. */
export function missingForRedirect(redirects: RedirectSection): readonly string[] {
  const { enabled: isOn, https: secure, nginx: file, gatewayAPI: gateway, cdn: rules } = redirects
  const needs: readonly (readonly [isOn: boolean, isThere: boolean, key: string, by: string])[] = [
    [isOn, redirects.port !== undefined, 'port', 'enabled'],
    [
      isOn && secure.port !== undefined,
      secure.acme || Object.keys(secure.certificates).length > 0,
      'https.certificates',
      'https.port',
    ],
    [file.enabled, file.configDir !== undefined, 'nginx.configDir', 'nginx.enabled'],
    [gateway.enabled, gateway.gatewayName !== '', 'gatewayAPI.gatewayName', 'gatewayAPI.enabled'],
    [
      gateway.enabled,
      gateway.gatewayNamespace !== '',
      'gatewayAPI.gatewayNamespace',
      'gatewayAPI.enabled',
    ],
    [
      gateway.enabled,
      gateway.httprouteNamespace !== '',
      'gatewayAPI.httprouteNamespace',
      'gatewayAPI.enabled',
    ],
    [rules.enabled, rules.apiToken !== '', 'cdn.apiToken', 'cdn.enabled'],
    [rules.enabled, rules.zones.length > 0, 'cdn.zones', 'cdn.enabled'],
  ]
  return needs
    .filter(([isWanted, isThere]) => isWanted && !isThere)
    .map(([, , key, by]) => `redirect.${key} is missing; write it, or take redirect.${by} away`)
}
