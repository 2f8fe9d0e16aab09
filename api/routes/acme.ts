// /api/v1/acme: the certificates that an ACME server gives. No answer has a private key.
import { Type } from '#lib/schema/type.ts'
import { success } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import { AcmeCertificate } from '#ports/certificates.ts'

const route = routesOf({ tag: 'Certificates', withoutConfig: true, ofPlatform: true })

const list = route('GET /api/v1/acme/certificates', {
  needs: 'settings:read',
  summary: 'The certificates of the ACME server, and how the next ones do',
  details: 'Those of `acme.names` and `acme.certificates`, the same on all control nodes.',
  responses: { 200: { description: 'In their order', schema: Type.Array(AcmeCertificate) } },
  ports: ['certificates'],
  handle: ({ ports }) => success(ports.certificates.view()),
})

export const acmeRoutes = Object.freeze([list])
