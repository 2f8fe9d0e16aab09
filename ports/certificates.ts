// Defines the port to the certificates of an ACME server, and their JSON.
import { Type } from '#lib/schema/type.ts'
import type { Shown } from '#lib/schema/type.ts'
import { nullable, UnixSeconds } from '#http/shapes.ts'

export const AcmeCertificate = Type.Object(
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
export type AcmeCertificate = Shown<typeof AcmeCertificate>

export interface Certificates {
  /** What the settings ask for. */
  readonly view: () => readonly AcmeCertificate[]
}
