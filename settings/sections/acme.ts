// The section `acme` of gslbd.yaml: the certificate that is asked for at an ACME server.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { boolean, duration, section, text } from '#settings/forms/forms.ts'

const label = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const names = Type.Optional(
  Type.Array(Type.String({ maxLength: 253, pattern: `^(\\*\\.)?${label}(\\.${label})+$` }), {
    default: [],
    maxItems: 100,
    'x-expected': 'a list of names, such as ["ns1.example.com", "*.gslb.example.com"]',
    description:
      'Names of the certificate. Each in a zone that is answered here is proven by a TXT record ' +
      'at `_acme-challenge` below it. Empty: no certificate is asked for.',
  }),
)

export const acme = section(
  'A certificate from an ACME server (RFC 8555), which control nodes get and renew: for DNS over ' +
    'TLS and HTTPS, the API and redirects over https. It needs GSLB_SECRET_KEY. ' +
    '[More](../operations/certificates.md).',
  {
    names,
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
export type AcmeSection = Static<typeof acme>

interface Uses {
  readonly roles: readonly string[]
  readonly acme: AcmeSection
  readonly dns: { readonly tls: { readonly acme: boolean } }
  readonly api: { readonly tls: { readonly acme: boolean } }
  readonly redirect: { readonly https: { readonly acme: boolean } }
}

/** Returns sentences for the operator about what an enabled section lacks. */
export function faultsOfAcme({ roles, acme: wanted, dns, api, redirect }: Uses): readonly string[] {
  const { names: all, agreeToTerms } = wanted
  if (all.length > 0 && !agreeToTerms) {
    return [
      'acme.agreeToTerms is not true: read the terms of service of the ACME server, and set it, ' +
        'or take acme.names away',
    ]
  }
  const isGiven = all.length > 0 || !roles.includes('control')
  const users = [
    ...(dns.tls.acme ? ['dns.tls.acme'] : []),
    ...(api.tls.acme ? ['api.tls.acme'] : []),
    ...(redirect.https.acme ? ['redirect.https.acme'] : []),
  ]
  return isGiven
    ? []
    : users.map((key) => `${key} needs acme.names; write the names of the certificate`)
}
