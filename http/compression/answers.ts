// Compresses responses of the API for clients that accept gzip.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { takesCoding } from './accepted.ts'
import { apiLimits } from '#http/limits.ts'

const zip = promisify(gzip)
const isText = /^(text\/|application\/json\b)/

/**
 * Only texts: files, bundles and the document of the API are octets or streams with a coding of
 * their own. To be added after the hook that sets `cache-control`. Compression runs in another
 * thread, within a limit; beyond it, or after a failure, a response is sent as it is.
 */
export function compressAnswers(app: FastifyInstance): void {
  let bytesInProgress = 0
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string' || !mayShrink(request, reply)) return payload
    void reply.header('vary', 'Accept-Encoding')
    if (!takesCoding(request.headers['accept-encoding'], 'gzip')) return payload
    const bytes = Buffer.byteLength(payload)
    const { bytesMin, bytesInProgressMax } = apiLimits.compression
    if (bytes < bytesMin || bytesInProgress + bytes > bytesInProgressMax) return payload
    bytesInProgress += bytes
    try {
      const zipped = await zip(payload)
      void reply.header('content-encoding', 'gzip')
      return zipped
    } catch {
      return payload
    } finally {
      bytesInProgress -= bytes
    }
  })
}

/**
 * The length of a compressed response reveals whether attacker-chosen text also occurs in its
 * secret part (BREACH). So only these are compressed: responses to reads, which hold no secret
 * (keys and tokens are in responses to writes); no refusal, which repeats the request; and none
 * that a page of another origin requests with its cookie. Responses that caches may keep are not
 * either, since their `ETag` stands for the octets. Other tags stand for the version of an object
 * in any coding: `If-Match` takes them.
 */
function mayShrink({ method, headers }: FastifyRequest, reply: FastifyReply): boolean {
  if ((method !== 'GET' && method !== 'HEAD') || reply.statusCode !== 200) return false
  const site = headers['sec-fetch-site'] ?? 'none'
  if (site !== 'none' && site !== 'same-origin') return false
  if (reply.hasHeader('content-encoding') || reply.hasHeader('vary')) return false
  const isKept = reply.getHeader('cache-control') !== 'no-store'
  return !isKept && isText.test(String(reply.getHeader('content-type') ?? ''))
}
