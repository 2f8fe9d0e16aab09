// Checks of type grpc, as data: the service that is asked about, and the fields shared with http.
import { hostPattern } from '#lib/text/patterns.ts'
import { text } from './check-field.ts'
import type { ProbeType } from './probe-type.ts'

export const grpc = {
  name: 'grpc',
  does: 'asks by the gRPC health checking protocol',
  fields: {
    grpcService: text({
      maxLength: 255,
      pattern: hostPattern,
      default: '',
      description: 'Service that type `grpc` asks about; empty asks about the whole server.',
    }),
  },
  uses: ['httpHost', 'tls', 'insecureSkipVerify', 'clientCertificate'],
} as const satisfies ProbeType
