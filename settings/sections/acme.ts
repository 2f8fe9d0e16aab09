// The section `acme` of gslbd.yaml: the certificates that are asked for at an ACME server.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import {
  boolean,
  duration,
  entryName,
  nodeNamePattern,
  section,
  text,
} from '#settings/forms/forms.ts'

const label = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
/** The last label is no number, so that no address is taken for a name. */
const name = Type.String({
  maxLength: 253,
  pattern: `^(\\*\\.)?(${label}\\.)+(?![0-9]+$)${label}$`,
})
const nodeName = Type.String({ maxLength: 253, pattern: nodeNamePattern })
const names = Type.Optional(
  Type.Array(name, {
    default: [],
    maxItems: 100,
    'x-expected': 'a list of names, such as ["ns1.example.com", "*.gslb.example.com"]',
    description:
      'Names of the certificate. Each in a zone that is answered here is proven by a TXT record ' +
      'at `_acme-challenge` below it. 100 at most. Empty: no certificate is asked for.',
  }),
)

const certificates = Type.Optional(
  Type.Record(
    entryName,
    Type.Object(
      {
        names: Type.Array(name, { minItems: 1, maxItems: 100 }),
        nodes: Type.Optional(Type.Array(nodeName, { maxItems: 1_000 })),
      },
      { additionalProperties: false },
    ),
    {
      description:
        'More certificates of the same server, each `{ names: [NAME, …] }`, by names of your own ' +
        'that the `certificates` of a listener refer to. 20 at most. With `nodes: [NODE, …]` ' +
        'it is given to these nodes of the role `dns` alone, which have to be listed.',
      additionalProperties: false,
      default: {},
      maxProperties: 20,
      'x-expected':
        'names in small letters, each with { names: [NAME, …] } or { names: …, nodes: [NODE, …] }',
    },
  ),
)

const eab = section(
  'External account binding (RFC 8555 section 7.3.4): the account at an authority that has ' +
    'customers, such as ZeroSSL or Google.',
  {
    kid: text(1_024, {
      default: '',
      pattern: '^[!-~]*$',
      'x-expected': 'the key identifier that the authority gave, in printable ASCII without blanks',
      description: 'Key identifier that the authority gave. Empty: there is no such account.',
    }),
    hmacKey: text(1_024, {
      default: '',
      pattern: '^[A-Za-z0-9+/_-]*={0,2}$',
      'x-secret': true,
      'x-expected': 'a key in base64 or base64url',
      description: 'Its key, in base64url. It belongs in GSLB_ACME_EAB_HMAC_KEY, or in a file.',
    }),
    hmacKeyFile: text(4_096, {
      'x-kind': 'path',
      'x-default': 'none',
      'x-expected': 'the path of a file with the key in it',
      description: 'File with that key. It is read with each order.',
    }),
  },
)

export const acme = section(
  'Certificates from an ACME server (RFC 8555), which control nodes get and renew: for DNS over ' +
    'TLS and HTTPS, the API and redirects over https. It needs GSLB_SECRET_KEY. ' +
    '[More](../operations/certificates.md).',
  {
    names,
    certificates,
    directory: text(2_000, {
      default: 'https://acme-v02.api.letsencrypt.org/directory',
      pattern: '^https://[^/\\s@]+(/\\S*)?$',
      'x-expected': 'an address that begins with https://, without a password',
      description: 'Address of the directory of the ACME server.',
    }),
    agreeToTerms: boolean({
      default: false,
      description:
        'That you agree to the terms of service of that server; with names, it must be true.',
    }),
    contact: Type.Optional(
      Type.Array(Type.String({ maxLength: 254, pattern: '^[^@\\s,?]+@[^@\\s,?]+$' }), {
        default: [],
        maxItems: 10,
        'x-expected': 'a list of e-mail addresses',
        description: 'E-mail addresses that the server may write to.',
      }),
    ),
    caFile: text(4_096, {
      'x-kind': 'path',
      'x-default': 'the authorities of the system',
      'x-expected': 'the path of a file in PEM form',
      description: 'File with the certificate of the authority of the ACME server itself.',
    }),
    eab,
    propagation: duration({
      default: '5s',
      minimumMs: 0,
      maximumMs: 600_000,
      description:
        'How long after all nodes have a proof the ACME server is told of it: time for secondary ' +
        'servers, and for other control nodes.',
    }),
  },
)
type AcmeSection = Static<typeof acme>

interface Listener {
  readonly acme: boolean
  readonly certificates: Readonly<Record<string, object>>
}

interface Uses {
  readonly roles: readonly string[]
  readonly acme: AcmeSection
  readonly dns: { readonly tls: Listener }
  readonly api: { readonly tls: Listener }
  readonly redirect: { readonly https: Listener }
}

export const asksForCertificate = ({
  names: all,
  certificates: more,
}: Pick<AcmeSection, 'names' | 'certificates'>): boolean =>
  all.length > 0 || Object.keys(more).length > 0

/** Returns sentences for the operator about what an enabled section lacks. */
export function faultsOfAcme({ roles, acme: wanted, dns, api, redirect }: Uses): readonly string[] {
  const { names: all, certificates: more, agreeToTerms, eab: account } = wanted
  if (asksForCertificate(wanted) && !agreeToTerms) {
    return [
      'acme.agreeToTerms is not true: read the terms of service of the ACME server, and set it, ' +
        'or take acme.names and acme.certificates away',
    ]
  }
  const { kid, hmacKey, hmacKeyFile } = account
  const isInFile = hmacKeyFile !== undefined
  // A key in the environment may be there for other nodes.
  if (kid === '' && isInFile) return [noKid]
  if (kid !== '' && isInFile === (hmacKey !== '')) return [isInFile ? twoKeys : noKey]
  // Other nodes have it from a control node.
  if (!roles.includes('control')) return []
  const listeners = { 'dns.tls': dns.tls, 'api.tls': api.tls, 'redirect.https': redirect.https }
  return Object.entries(listeners).flatMap(([key, { acme: isUsed, certificates: listed }]) => {
    const lacking = Object.entries(listed).flatMap(([entry, one]) => {
      if (!('acme' in one) || Object.hasOwn(more, String(one.acme))) return []
      const is = String(one.acme)
      return `${key}.certificates.${entry} needs acme.certificates.${is}; write it with its names`
    })
    const first = `${key}.acme needs acme.names; write the names of the certificate`
    return isUsed && all.length === 0 ? [first, ...lacking] : lacking
  })
}

const noKey =
  'acme.eab.hmacKeyFile is missing: acme.eab.kid needs the key of that account; name a file with ' +
  'it, or set GSLB_ACME_EAB_HMAC_KEY'
const noKid = 'acme.eab.kid is missing: write the key identifier that the authority gave'
const twoKeys =
  'acme.eab.hmacKeyFile and acme.eab.hmacKey (GSLB_ACME_EAB_HMAC_KEY) are both there: write one'
