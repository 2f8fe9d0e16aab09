// Compresses the answers of the API for those who take gzip.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { takesCoding } from './accepted.ts'
import { apiLimits } from '#http/limits.ts'

const zip = promisify(gzip)
const isText = /^(text\/|application\/json\b)/

/**
 * Texts alone: files, bundles and what the document of the API has made once come as octets or
 * streams, each with a coding of its own. Add it after the hook that sets `cache-control`.
 *
 * The work is done beside this thread, and has a limit; what is beyond it is sent as it is, which
 * every client takes. An answer that fails here does, too.
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
 * The length of a compressed answer tells whether what an attacker had written into it is also in
 * its secret part (BREACH). So these alone are compressed: answers to reads, which show no secret
 * (keys and tokens are in answers to writes), never a refusal, which repeats what was asked; and
 * none that a page of another origin has a browser ask for with its cookie.
 *
 * What a cache may keep is not, either: there an `ETag` stands for the octets. That of the other
 * answers stands for the version of an object, whatever else is shown with it, and is the same in
 * each coding: `If-Match` takes it.
 */
function mayShrink({ method, headers }: FastifyRequest, reply: FastifyReply): boolean {
  if ((method !== 'GET' && method !== 'HEAD') || reply.statusCode !== 200) return false
  const site = headers['sec-fetch-site'] ?? 'none'
  if (site !== 'none' && site !== 'same-origin') return false
  if (reply.hasHeader('content-encoding') || reply.hasHeader('vary')) return false
  const isKept = reply.getHeader('cache-control') !== 'no-store'
  return !isKept && isText.test(String(reply.getHeader('content-type') ?? ''))
}
