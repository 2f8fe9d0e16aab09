// The settings of the DNS listener: `dns` in gslbd.yaml.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import {
  boolean,
  duration,
  integer,
  name,
  nameLengthMax,
  namePattern,
  names,
  networks,
  pemFile,
  resolvers,
  section,
  serverCertificates,
  text,
} from '#settings/forms/forms.ts'
import { rrl } from './rrl.ts'

/** Every packet's sender is compared with each of these networks. */
const proxyNetworksMax = 64

const tcp = section('DNS over TCP (RFC 7766).', {
  idleTimeout: duration({
    default: '10s',
    minimumMs: 1_000,
    maximumMs: 3_600_000,
    description: 'A connection without a query for this long is closed.',
  }),
  maxConnections: integer(1, 100_000, {
    default: 1_000,
    description:
      'Open connections of the whole node. At the limit the connection that has been idle ' +
      'longest is closed.',
  }),
  maxPerClient: integer(1, 100_000, {
    default: 50,
    description: 'Open connections from one client: an IPv4 address, or an IPv6 /64.',
  }),
  maxPipelined: integer(1, 10_000, {
    default: 64,
    description:
      'Queries of one connection that are answered before the other connections get their turn.',
  }),
})

const tls = section(
  'DNS over TLS (RFC 7858), with the limits of `dns.tcp`. [More](../operations/dns-over-tls.md).',
  {
    port: integer(0, 65_535, {
      default: 853,
      description: 'TCP port, at `dns.listenAddr`. 0 takes a free one and logs it.',
    }),
    certFile: pemFile(
      'File with the certificate, and those that lead to its root; with `keyFile` it turns DNS ' +
        'over TLS on. Both are read again when they change.',
    ),
    keyFile: pemFile('File with its private key.'),
    certificates: serverCertificates('More certificates'),
    acme: boolean({
      default: false,
      description:
        'Whether the certificate is the one of `acme`, in the place of `certFile`; it is behind ' +
        'those of `certificates`. Nodes of the role `dns` get it from their control nodes. ' +
        '[More](../operations/certificates.md).',
    }),
  },
)

const https = section(
  'DNS over HTTPS (RFC 8484), with the certificate of `dns.tls` and the limits of `dns.tcp`. ' +
    '[More](../operations/dns-over-tls.md).',
  {
    enabled: boolean({
      default: false,
      description: 'Whether queries are taken over HTTP/2, besides those over TLS.',
    }),
    port: integer(0, 65_535, {
      default: 443,
      description: 'TCP port, at `dns.listenAddr`. 0 takes a free one and logs it.',
    }),
    path: text(256, {
      default: '/dns-query',
      pattern: '^/[A-Za-z0-9._~/-]*$',
      'x-expected': 'the path of a URL, such as /dns-query',
      description: 'Path of the resource; all others are 404.',
    }),
  },
)

const history = section(
  'Changes of zones that are kept, so that secondary servers get them alone (IXFR, RFC 1995).',
  {
    changes: integer(0, 100_000, {
      default: 1_000,
      description:
        'How many, the last ones. 0: none are kept, and IXFR is answered with the whole zone.',
    }),
    maxMegabytes: integer(1, 4_096, {
      default: 16,
      description: 'How much memory they take; the oldest go first.',
    }),
    maxAge: duration({
      default: '7d',
      minimumMs: 60_000,
      maximumMs: 366 * 86_400_000,
      description: 'How old they get.',
    }),
  },
)

const axfr = section(
  'Transfers of zones to secondary servers (RFC 5936, RFC 1996). ' +
    '[More](../operations/secondaries.md).',
  {
    enabled: boolean({
      default: false,
      description:
        'Whether zones are transferred, over TCP, whole or by their changes. Off, AXFR and IXFR ' +
        'are REFUSED.',
    }),
    requireTsig: boolean({
      default: false,
      description: 'Whether a transfer must be signed with a TSIG key (RFC 8945).',
    }),
    allow: networks({
      description: 'Clients that may transfer zones. Empty: all that reach the port.',
    }),
    notify: resolvers({
      description:
        'Secondary servers that are told of each change, with a port or without: ' +
        '`192.0.2.53`, `192.0.2.53:5353`, `[2001:db8::53]:53`.',
    }),
    notifyKey: name({
      'x-expected': 'the name of a TSIG key, such as transfer.example.com.',
      description: 'TSIG key that signs what they are told. Empty: it is not signed.',
    }),
    catalog: name({
      'x-expected': 'the name of a zone, such as catalog.example.',
      description:
        'Name of a catalog zone (RFC 9432), from which secondary servers learn which zones there ' +
        'are. Empty: none.',
    }),
    zonemd: boolean({
      default: false,
      description:
        'Whether each zone is transferred with a digest of its records (ZONEMD, RFC 8976), by ' +
        'which secondary servers find what was changed or left out on its way.',
    }),
    history,
  },
)

/** The types of records that may be written at run time: `writtenTypes` of the store's port. */
const updateTypes = ['TXT', 'A', 'AAAA', 'PTR', 'SRV', 'CNAME', 'DHCID'] as const

const grant = Type.Object(
  {
    principal: Type.String({ maxLength: 256, pattern: '^[\\w.$/*-]+@[A-Za-z0-9.-]+$' }),
    scope: Type.String({ maxLength: nameLengthMax, pattern: namePattern }),
  },
  { additionalProperties: false },
)

const gssTsig = section(
  'Updates signed by GSS-TSIG (RFC 3645), with keys that clients agree on by Kerberos. ' +
    '[More](../operations/dynamic-dns.md#kerberos).',
  {
    keytab: text(4_096, {
      'x-kind': 'path',
      'x-default': 'none',
      'x-expected': 'the path of a keytab, with a key of DNS/HOST@REALM',
      description:
        'File with the keys of this server, `DNS/HOST@REALM` as clients name it; it is read with ' +
        'the library of MIT Kerberos. Without one no key is agreed on.',
    }),
    grants: Type.Optional(
      Type.Array(grant, {
        default: [],
        maxItems: 1_000,
        'x-expected':
          'a list of grants, each { principal: NAME@REALM, scope: NAME }, such as ' +
          "{ principal: '*$@EXAMPLE.ORG', scope: self }",
        description:
          'What principals may write: at `scope` and below it, or with `self` a machine at its ' +
          'own name. `*` stands for any letters before `@`.',
      }),
    ),
  },
)

const update = section(
  'Updates of records by DNS clients (RFC 2136). [More](../operations/dynamic-dns.md).',
  {
    zones: names({
      description: 'Zones that take updates, besides `dns.domain`.',
    }),
    types: Type.Optional(
      Type.Array(Type.Enum([...updateTypes]), {
        default: ['TXT'],
        maxItems: updateTypes.length,
        'x-expected': `a list of ${updateTypes.join(', ')}`,
        description:
          'Types of records that updates write: others than TXT with keys that have a `scope`. ' +
          'DHCP servers need A, AAAA, PTR and DHCID.',
      }),
    ),
    gssTsig,
  },
)

const tsig = section('TSIG keys (RFC 8945) of a node that only answers.', {
  keysFile: text(4_096, {
    'x-kind': 'path',
    'x-default': 'none',
    'x-expected': 'the path of a file, as tsig-keygen writes it',
    description:
      'File with the keys that `roles: [dns]` knows, as `tsig-keygen` prints them; read again at ' +
      'SIGHUP. They sign queries, transfers and NOTIFY. Other nodes have their keys from the API.',
  }),
})

const cookies = section(
  'DNS cookies (RFC 7873, RFC 9018), by which clients show that an address is theirs. ' +
    '[More](../operations/cookies.md).',
  {
    enabled: boolean({
      default: true,
      description:
        'Whether replies to queries with a cookie have one. Off, the option is not looked at.',
    }),
    enforce: boolean({
      default: false,
      description:
        'Whether who sends a cookie over UDP that is not valid gets BADCOOKIE and a new one in ' +
        'the place of an answer. A client that sends none, or asks over TCP, is answered.',
    }),
    secretsFile: text(4_096, {
      'x-kind': 'path',
      'x-default': 'a secret for each day, made of one that the nodes of a fleet share',
      'x-expected': 'the path of a file with a line of 32 hexadecimal digits, or two',
      description:
        'File with the secret that makes cookies, as the first of at most two lines of 32 ' +
        'hexadecimal digits, and another one whose cookies are valid, too: for name servers of ' +
        'other makers beside this one. Read again at SIGHUP.',
    }),
  },
)

export const dns = section('The DNS listener.', {
  listenAddr: text(45, {
    default: '0.0.0.0',
    'x-kind': 'address',
    description: 'Address for UDP and TCP. `::` takes IPv6 and IPv4.',
  }),
  port: integer(0, 65_535, {
    default: 5_353,
    description: 'UDP and TCP port; 53 in production. 0 takes a free one and logs it.',
  }),
  threads: integer(0, 256, {
    'x-default': 'one per core',
    description:
      'Responder threads. 0 answers UDP over node:dgram in the thread that serves TCP, without ' +
      'the batched system calls.',
  }),
  udpPayloadSize: integer(512, 4_096, {
    default: 1_232,
    description:
      'Largest UDP answer in bytes, also announced in EDNS (RFC 6891). The default is that ' +
      'of DNS Flag Day 2020.',
  }),
  nsid: text(128, {
    default: '',
    pattern: '^[ -~]*$',
    'x-expected': 'printable ASCII text of at most 128 characters',
    description:
      'Name of this node for queries that ask for it (NSID, RFC 5001). Empty: no answer to ' +
      'that option.',
  }),
  versionBind: text(255, {
    default: '',
    pattern: '^[ -~]*$',
    'x-expected': 'printable ASCII text of at most 255 characters',
    description: 'Answer to the CHAOS TXT query `version.bind`. Empty: the query is refused.',
  }),
  zoneVersion: boolean({
    default: true,
    description:
      'Whether queries that ask for it get the serial of the zone with the answer ' +
      '(ZONEVERSION, RFC 9660): `dig +ednsopt=19`.',
  }),
  tellsCommit: boolean({
    default: false,
    description:
      'Whether everybody may ask which commit answers: the CHAOS TXT query `commit.gslbd`, or ' +
      'any query with an empty extended error (`dig +ednsopt=15`), answered in the text of one.',
  }),
  resolvers: resolvers({
    description:
      'Name servers that look up the `hostname` of members, with a port where it is not 53. ' +
      'Empty: those of the system (/etc/resolv.conf). [More](../routing.md#host-names).',
  }),
  allowLocalTargets: boolean({
    default: false,
    description:
      'Whether a `hostname` of a member may resolve to a loopback or link-local address, or one ' +
      'of the metadata of a cloud. Otherwise such addresses are refused, and the last good ones ' +
      'are answered.',
  }),
  domain: name({
    'x-expected': 'the name of a zone, such as example.com',
    description:
      'The zone whose records DNS clients may update with a TSIG key. Empty: none. ' +
      '[More](../operations/dynamic-dns.md).',
  }),
  update,
  tsig,
  proxyProtocol: networks(
    {
      description:
        'Networks of load balancers in front, which send a header of the PROXY protocol, version ' +
        '2, over UDP and TCP. From them each connection and datagram must begin with one; from ' +
        'others none is taken. Empty: there are none. [More](../operations/load-balancers.md).',
    },
    proxyNetworksMax,
  ),
  cookies,
  tcp,
  tls,
  https,
  axfr,
  rrl,
})

/** Whether DNS over TLS is on. */
const isTlsOn = ({ certFile, certificates, acme }: Static<typeof tls>): boolean =>
  certFile !== undefined || Object.keys(certificates).length > 0 || acme

/** The TCP ports of what listens with TLS. */
export function securePorts({
  tls,
  https,
}: Pick<Static<typeof dns>, 'tls' | 'https'>): readonly { key: string; port: number }[] {
  if (!isTlsOn(tls)) return []
  const overTls = { key: 'dns.tls.port', port: tls.port }
  return https.enabled ? [overTls, { key: 'dns.https.port', port: https.port }] : [overTls]
}

/** Returns sentences for the operator about what an enabled section lacks. */
export function missingForTls({ tls: files, https }: Static<typeof dns>): readonly string[] {
  if (https.enabled && !isTlsOn(files) && files.keyFile === undefined) {
    return [
      'dns.https.enabled needs dns.tls.certFile and dns.tls.keyFile, dns.tls.certificates, or ' +
        'dns.tls.acme; write them',
    ]
  }
  return missingFiles('dns.tls', files)
}

/** Sentences about a certificate that is half written, or written twice. */
export function missingFiles(
  key: string,
  {
    certFile,
    keyFile,
    acme,
  }: {
    readonly certFile: string | undefined
    readonly keyFile: string | undefined
    readonly acme: boolean
  },
): readonly string[] {
  if (acme && (certFile ?? keyFile) !== undefined) {
    return [`${key} has files and acme; take one of the two away`]
  }
  if ((certFile === undefined) === (keyFile === undefined)) return []
  const [missing, there] =
    certFile === undefined ? ['certFile', 'keyFile'] : ['keyFile', 'certFile']
  return [`${key}.${missing} is missing; write it, or take ${key}.${there} away`]
}
