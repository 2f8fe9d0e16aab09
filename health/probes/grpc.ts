// Implements the grpc probe: `Check` of the gRPC health checking protocol (grpc.health.v1) over
// HTTP/2.
import { connect } from 'node:http2'
import type { ClientHttp2Stream, IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Attempt } from './attempt.ts'
import type { ClientCertificates } from './client-certificates.ts'
import { healthLimits } from '#health/limits.ts'
import type { Probe, ProbeTarget } from './probe.ts'
import { healthRequest, readHealthResponse, serving, servingStatuses } from './grpc-message.ts'
import { hostOf, probeOver } from './member-connection.ts'

export const createGrpc = (certificates: ClientCertificates): Probe =>
  probeOver('h2', certificates, ask)

function ask(target: ProbeTarget, socket: Socket, attempt: Attempt): void {
  const { tls, timeoutMs, grpcService } = target.check
  if (tls && (socket as TLSSocket).alpnProtocol !== 'h2') {
    attempt.fail('the backend does not speak HTTP/2')
    return
  }
  const scheme = tls ? 'https' : 'http'
  const session = connect(`${scheme}://member`, {
    createConnection: () => socket,
    maxSessionMemory: healthLimits.grpcSessionMemoryMb,
    maxHeaderListPairs: healthLimits.grpcHeaderPairsMax,
    maxReservedRemoteStreams: 0,
    settings: {
      enablePush: false,
      maxHeaderListSize: healthLimits.responseHeaderBytesMax,
      initialWindowSize: healthLimits.grpcMessageBytesMax,
    },
  })
  session.on('error', (error) => {
    attempt.fail(error)
  })
  attempt.onOver(() => {
    session.destroy()
  })
  const stream = session.request({
    ':method': 'POST',
    ':scheme': scheme,
    ':authority': hostOf(target),
    ':path': '/grpc.health.v1.Health/Check',
    'content-type': 'application/grpc',
    te: 'trailers',
    'grpc-timeout': `${timeoutMs}m`,
    'user-agent': 'gslbd-health',
  })
  read(stream, attempt, grpcService)
  stream.end(healthRequest(grpcService))
}

/** The part of a response that has arrived. */
interface Reply {
  head: (IncomingHttpHeaders & IncomingHttpStatusHeader) | undefined
  trailers: IncomingHttpHeaders | undefined
  readonly pieces: Buffer[]
  isEnded: boolean
}

function read(stream: ClientHttp2Stream, attempt: Attempt, service: string): void {
  const reply: Reply = { head: undefined, trailers: undefined, pieces: [], isEnded: false }
  let bytes = 0
  let interimCount = 0
  const judge = (): void => {
    if (attempt.isOver) return
    const fault = faultOf(reply, service)
    if (fault === undefined) attempt.succeed()
    else attempt.fail(fault)
  }
  /** Called at the end of data and of trailers, which come in either order. */
  const judgeWhole = (): void => {
    if (reply.isEnded && statusOf(reply) !== undefined) judge()
  }
  stream.on('error', (error) => {
    attempt.fail(error)
  })
  stream.on('headers', () => {
    if (++interimCount > healthLimits.interimResponsesMax)
      attempt.fail('too many interim responses')
  })
  stream.on('response', (headers) => {
    reply.head = headers
  })
  stream.on('trailers', (headers) => {
    reply.trailers = headers
    judgeWhole()
  })
  stream.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > healthLimits.grpcMessageBytesMax) attempt.fail('the response is too long')
    else if (!attempt.isOver) reply.pieces.push(piece)
  })
  stream.on('end', () => {
    reply.isEnded = true
    judgeWhole()
  })
  stream.on('close', judge)
}

/** A response without a message has its status in the head. */
function statusOf({ head, trailers }: Reply): string | undefined {
  const status = (trailers ?? head)?.['grpc-status']
  return typeof status === 'string' && /^\d{1,2}$/.test(status) ? status : undefined
}

/** Names of status codes: https://grpc.github.io/grpc/core/md_doc_statuscodes.html */
const grpcStatuses: readonly string[] = Object.freeze([
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
])

/** @returns undefined: the member is serving. The text never holds words of the member. */
function faultOf(reply: Reply, service: string): string | undefined {
  const { head, pieces } = reply
  if (head === undefined) return 'connection closed before a response'
  const httpStatus = head[':status']
  if (httpStatus !== 200) return `HTTP ${httpStatus ?? 0}, expected 200`
  const name = grpcStatuses[Number(statusOf(reply) ?? NaN)]
  if (name === undefined) return 'the response is not gRPC'
  if (name === 'UNIMPLEMENTED') return 'the backend has no gRPC health service'
  if (name === 'NOT_FOUND') return `gRPC status NOT_FOUND: it has no service "${service}"`
  if (name !== 'OK') return `gRPC status ${name}, expected OK`
  const health = readHealthResponse(Buffer.concat(pieces))
  if (health === undefined) return 'the response is no gRPC health response'
  if (health === serving) return undefined
  return `gRPC health ${servingStatuses[health] ?? 'of an unknown kind'}, expected SERVING`
}
