// The text of a request body in, a value out; whoever sends it is not believed.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isForPages } from './origin.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** JSON only; no content type counts as JSON, any other is 415 unless the route is for pages. */
export function parseBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, bytes, done) => {
    const parsed = parse(request, bytes as Buffer)
    if (parsed instanceof Refusal) done(parsed)
    else done(null, parsed)
  })
}

/** The framework's own way to say what is wrong with a body. */
class Refusal extends Error {
  readonly statusCode: number

  constructor(statusCode: number, sentence: string) {
    super(sentence)
    this.statusCode = statusCode
  }
}

function parse(request: FastifyRequest, bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  const type = request.headers['content-type']
  // A page sends text/plain, which needs no leave of ours.
  if (
    type !== undefined &&
    !isForPages(request) &&
    !/^application\/(\w+\+)?json\s*(;|$)/i.test(type)
  ) {
    return new Refusal(415, 'the body must be JSON: send it with Content-Type: application/json')
  }
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return new Refusal(400, 'body: is not UTF-8')
  }
  try {
    return JSON.parse(text) as unknown
  } catch {
    return new Refusal(400, 'body: is not JSON')
  }
}
