// /api/v1/acme: the certificate that an ACME server gives. No answer has a private key.
import { Type } from '#lib/schema/type.ts'
import { nullable, unixSeconds, UnixSeconds } from '#http/shapes.ts'
import { success } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import type { CertificateView } from '#ports/certificates.ts'

const route = routesOf({ tag: 'Certificates', withoutConfig: true, ofPlatform: true })

const Certificate = Type.Object(
  {
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

function show({ certificate, failure, clockOffsetMs, names, ...rest }: CertificateView) {
  return {
    ...{ ...rest, names: [...names] },
    certificate: certificate && {
      names: [...certificate.names],
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
  summary: 'The certificate of the ACME server, and how the next one does',
  details: 'Empty where `acme.names` is. It is the same on all control nodes of a cluster.',
  responses: { 200: { description: 'At most one', schema: Type.Array(Certificate) } },
  ports: ['certificates'],
  handle: ({ ports }) => {
    const view = ports.certificates.view()
    return success(view === null ? [] : [show(view)])
  },
})

export const acmeRoutes = Object.freeze([list])
