// /api/v1/acme: the certificates that an ACME server gives. No answer has a private key.
import { Type } from '#lib/schema/type.ts'
import { nullable, unixSeconds, UnixSeconds } from '#http/shapes.ts'
import { success } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import type { CertificateView } from '#ports/certificates.ts'

const route = routesOf({ tag: 'Certificates', withoutConfig: true, ofPlatform: true })

const Certificate = Type.Object(
  {
    entry: nullable(
      Type.String({ description: 'Of `acme.certificates`; null: that of `acme.names`' }),
    ),
    directory: Type.String({ description: 'Address of the ACME server' }),
    names: Type.Array(Type.String(), { description: 'What the settings ask for' }),
    certificate: nullable(
      Type.Object({
        names: Type.Array(Type.String()),
        notBefore: UnixSeconds,
        notAfter: UnixSeconds,
        renewAt: UnixSeconds,
        suggested: nullable(
          Type.Object(
            { from: UnixSeconds, to: UnixSeconds, why: nullable(Type.String()) },
            { description: 'When the ACME server wants it renewed, and a page that says why' },
          ),
        ),
      }),
    ),
    isOrdering: Type.Boolean({ description: 'A node is getting one now' }),
    failure: nullable(
      Type.Object({
        code: Type.String({
          description: '`away`, `challenge`, or a word of RFC 8555, such as `rateLimited`',
        }),
        message: Type.String(),
        count: Type.Integer({ description: 'In a row' }),
        at: UnixSeconds,
        next: UnixSeconds,
      }),
    ),
    clockOffsetSeconds: nullable(
      Type.Integer({ description: 'How far this node is ahead of the ACME server' }),
    ),
    fault: nullable(Type.String({ description: 'Why what is stored cannot be used' })),
  },
  { title: 'AcmeCertificate' },
)

function show({ certificate, failure, clockOffsetMs, ...rest }: CertificateView) {
  return {
    ...rest,
    certificate: certificate && {
      names: certificate.names,
      notBefore: unixSeconds(certificate.notBeforeMs),
      notAfter: unixSeconds(certificate.notAfterMs),
      renewAt: unixSeconds(certificate.renewAtMs),
      suggested: certificate.suggested && {
        ...{ from: unixSeconds(certificate.suggested.startMs), why: certificate.suggested.why },
        to: unixSeconds(certificate.suggested.endMs),
      },
    },
    failure: failure && {
      ...{ code: failure.code, message: failure.message, count: failure.count },
      ...{ at: unixSeconds(failure.atMs), next: unixSeconds(failure.nextMs) },
    },
    clockOffsetSeconds: clockOffsetMs === null ? null : unixSeconds(clockOffsetMs),
  }
}

const list = route('GET /api/v1/acme/certificates', {
  needs: 'settings:read',
  summary: 'The certificates of the ACME server, and how the next ones do',
  details: 'Those of `acme.names` and `acme.certificates`, the same on all control nodes.',
  responses: { 200: { description: 'In their order', schema: Type.Array(Certificate) } },
  ports: ['certificates'],
  handle: ({ ports }) => success(ports.certificates.view().map(show)),
})

export const acmeRoutes = Object.freeze([list])
