// A zone: its apex, its name servers and the numbers of its SOA record (RFC 1035 section 3.3.13).
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { dnskeyPattern, keyLifePattern, keyWaitPattern } from '#lib/text/patterns.ts'

/**
 * Defaults where neither the zone nor `defaults` gives a value: those of Zonemaster, except
 * `minimum`.
 */
export const soaDefaults = {
  refresh: 14_400,
  retry: 3_600,
  expire: 604_800,
  /** Small, because resolvers cache "no records" for this long after members are back. */
  minimum: 30,
  ttl: 120,
} as const

const secondsMax = 2_147_483_647

function seconds(name: keyof typeof soaDefaults, description: string) {
  return Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: secondsMax,
      description:
        `${description} Without it: the value in \`defaults\`, else ` + `${soaDefaults[name]}.`,
    }),
  )
}

export const Soa = Type.Object(
  {
    mname: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Primary name server. Without it: the value in `defaults`, else the first name server.',
      }),
    ),
    rname: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Mailbox of the person responsible, written as a name (`hostmaster.example.com.`). ' +
          'Without it: the value in `defaults`, else `hostmaster` beside `mname`.',
      }),
    ),
    refresh: seconds('refresh', 'Seconds between checks by secondary servers.'),
    retry: seconds('retry', 'Seconds after a failed check.'),
    expire: seconds('expire', 'Seconds after which a secondary stops answering.'),
    minimum: seconds('minimum', 'Seconds for which resolvers keep a negative answer (RFC 2308).'),
    ttl: seconds('ttl', 'TTL in seconds of the SOA record, and of what `nsTtl` says else.'),
  },
  {
    additionalProperties: false,
    description:
      'The SOA record. Its serial is the number of commits in the history, plus `serialBase`.',
  },
)
export type Soa = Static<typeof Soa>

export const Nameserver = Type.Object(
  {
    name: Type.String({ minLength: 1, description: 'Fully-qualified name with its trailing dot.' }),
    addresses: Type.Array(Type.String({ minLength: 1, maxLength: 45 }), {
      maxItems: 16,
      default: [],
      description: 'IPv4 and IPv6 addresses; needed when the name is inside the zone.',
    }),
  },
  { additionalProperties: false, description: 'A name server of the zone.' },
)
export type Nameserver = Static<typeof Nameserver>

export const Nameservers = Type.Array(Nameserver, {
  minItems: 1,
  maxItems: 32,
  description: 'The NS records.',
})

export const NsTtl = (without: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: secondsMax,
      description:
        'TTL in seconds of the NS records and of the addresses of name servers. ' +
        `Without it: ${without}.`,
    }),
  )

const KeyPolicy = Type.Object(
  {
    ksk: Type.String({
      pattern: keyLifePattern,
      default: 'never',
      description:
        'After how long a KSK or CSK is followed by another one: `2y`, `400d`; `never`: when a ' +
        'person says so. The parent needs the DS record of the new one then.',
    }),
    zsk: Type.String({
      pattern: keyLifePattern,
      default: '90d',
      description: 'After how long a ZSK is followed by another one, which nobody has to do.',
    }),
    propagation: Type.String({
      pattern: keyWaitPattern,
      default: '1h',
      description: 'How long it takes at most until every node answers with other keys.',
    }),
    parentDsTtl: Type.String({
      pattern: keyWaitPattern,
      default: '1d',
      description: 'TTL of the DS records of the zone in its parent.',
    }),
    parentPropagation: Type.String({
      pattern: keyWaitPattern,
      default: '1h',
      description: 'How long it takes until every server of the parent has what one has.',
    }),
  },
  { additionalProperties: false, description: 'When keys are followed by others (rollovers).' },
)
type KeyPolicy = Static<typeof KeyPolicy>

export const Dnssec = Type.Object(
  {
    enabled: Type.Boolean({
      default: true,
      description: 'Whether answers of the zone are signed. The keys are not in Git.',
    }),
    algorithm: Type.Optional(
      Type.Enum(['ecdsap256sha256', 'ed25519'], {
        description:
          'What keys and signatures are made by: ECDSA with P-256 (algorithm 13), or Ed25519 ' +
          '(15). Another one than that of the keys: they roll to it. Without it: that of the ' +
          'keys, else `ecdsap256sha256`, which every validator knows.',
      }),
    ),
    model: Type.Optional(
      Type.Enum(['csk', 'kskzsk'], {
        description:
          'One key for all (`csk`), or one that signs the keys and another for the rest ' +
          '(`kskzsk`). Without it: what the keys are, else `csk`.',
      }),
    ),
    policy: Type.Optional(KeyPolicy),
    dnskeys: Type.Optional(
      Type.Array(Type.String({ pattern: dnskeyPattern, maxLength: 1_500 }), {
        maxItems: 8,
        description:
          'Public keys by which other servers sign the same zone (RFC 8901), as in their DNSKEY ' +
          'records: `257 3 13 …`. They are shown beside those that are here. For keys in the ' +
          'database of control nodes. Without it: those that the API was given.',
      }),
    ),
    signals: Type.Optional(
      Type.Boolean({
        description:
          'Whether CDS and CDNSKEY of other signed zones, whose name servers have their names in ' +
          'this one, are answered below those names, too: parents take a first DS from there ' +
          '(RFC 9615). Without it: no.',
      }),
    ),
    csync: Type.Optional(
      Type.Enum(['immediate', 'soaminimum'], {
        description:
          'The zone has a CSYNC record: its parent is to take over NS records and addresses of ' +
          'name servers (RFC 7477), at once; with `soaminimum` from servers with this serial or ' +
          'a later one alone. Without it: there is none but one that is written.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'Signatures (DNSSEC), and how their keys live.',
  },
)
export type Dnssec = Static<typeof Dnssec>

/** Primary servers of a zone; each is asked when the one before does not answer. */
const primariesMax = 8

const From = Type.Object(
  {
    primaries: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      maxItems: primariesMax,
      description:
        'Addresses of its primary servers, with a port where it is not 53: `192.0.2.53`, ' +
        '`192.0.2.53:5353`, `[2001:db8::53]:5353`. They are asked in this order.',
    }),
    key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description:
          'Name of the TSIG key that transfers are signed with; the API keeps its secret. ' +
          'Without it: they are not signed.',
      }),
    ),
    tls: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 254,
        description:
          'Name that the certificates of the primary servers are for: they are asked over TLS ' +
          '(RFC 9103), at port 853 where none is written. Without it: over TCP, in the open.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'Other servers that the zone comes from (RFC 5936, RFC 1995). Control nodes ask them, and ' +
      'write what they get as commits: `kind: Records` with `transfer`.',
  },
)
export type From = Static<typeof From>

export const Zone = Type.Object(
  {
    name: Type.String({ minLength: 1, description: 'Apex of the zone, with its trailing dot.' }),
    nameservers: Type.Optional({
      ...Nameservers,
      description: 'The NS records. Without them: those of `defaults`.',
    } as typeof Nameservers),
    nsTtl: NsTtl('the value in `defaults`, else that of the SOA record'),
    soa: Type.Optional(Soa),
    serialBase: Type.Integer({
      minimum: 0,
      maximum: 4_294_967_295,
      default: 0,
      description:
        'What is added to the number of commits to make the serial of the zone (RFC 1982): the ' +
        'serial of the server before, so that its secondaries go on.',
    }),
    tenants: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 63 }), {
        maxItems: 10_000,
        description:
          'Ids of the tenants that its names belong to. Without it: the tenant `default` alone ' +
          'writes records (`kind: Records`) in it, and services of all may have free names.',
      }),
    ),
    delegated: Type.Optional(
      Type.Boolean({
        description:
          'Whether a tenant may also write records at and below its delegated domains in this ' +
          'zone (`kind: DelegatedDomain`); of nested ones the closest decides. Without it: no.',
      }),
    ),
    updates: Type.Optional(
      Type.Boolean({
        description:
          'Whether names of the zone come and go at run time, by UPDATE (`dns.update` of the ' +
          'node). MX, SRV and NS records that name a host which has no addresses here are a ' +
          'warning then. Without it: an error.',
      }),
    ),
    dnssec: Type.Optional(Dnssec),
    zonemd: Type.Optional(
      Type.Boolean({
        description:
          'Whether transfers of the zone have its digest (ZONEMD, RFC 8976). Without it: what ' +
          '`dns.axfr.zonemd` of the node says.',
      }),
    ),
    from: Type.Optional(From),
    splitHorizon: Type.Optional(
      Type.Boolean({
        description:
          'Whether resolvers of the nodes know other addresses for its names, as inside of a ' +
          'company: no warning then where a member or an ALIAS is looked up there. Without it: ' +
          '`hostname-in-own-zone` and `alias-target-own` warn.',
      }),
    ),
  },
  { additionalProperties: false, description: 'A zone that this server is authoritative for.' },
)
export type Zone = Static<typeof Zone>
