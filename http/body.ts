// Parses untrusted request bodies.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isForPages } from './origin.ts'
import { jsonFaultPlace } from './json-fault.ts'
import { repeatedKeyIn } from './repeated-key.ts'
import { parseJson } from '#lib/text/json.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The one media type that a server takes, and how it is written. */
interface BodyType {
  readonly form: RegExp
  readonly name: string
}

/**
 * Accepts JSON in UTF-8. No content type counts as JSON; another is 415, except on routes for
 * pages, and those whose clients are programs of others.
 *
 * @param only a media type that bodies must have
 */
export function parseBodies(app: FastifyInstance, only?: BodyType): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, bytes, done) => {
    const parsed = parse(request, bytes as Buffer, only)
    if (parsed instanceof Refusal) done(parsed)
    else done(null, parsed)
  })
}

/** An error in the form that the framework reports. */
class Refusal extends Error {
  readonly statusCode: number

  constructor(statusCode: number, sentence: string) {
    super(sentence)
    this.statusCode = statusCode
  }
}

function parse(request: FastifyRequest, bytes: Buffer, only?: BodyType): unknown {
  if (request.routeOptions.config?.withWebhook === true) return bytes
  if (bytes.length === 0) return undefined
  const { 'content-type': type, 'content-encoding': coding = '' } = request.headers
  if (!/^(identity)?$/i.test(coding.trim())) return new Refusal(415, compressed)
  if (only !== undefined && !only.form.test(type ?? '')) {
    return new Refusal(415, `the body must be JSON: send it with Content-Type: ${only.name}`)
  }
  // A page sends text/plain, which needs no preflight.
  if (
    type !== undefined &&
    only === undefined &&
    !isForPages(request) &&
    request.routeOptions.config?.takesAnyType !== true &&
    !(request.method === 'PATCH' ? patchForm : jsonForm).test(type)
  ) {
    const types = request.method === 'PATCH' ? patchTypes.join(' or ') : 'application/json'
    return new Refusal(415, `the body must be JSON: send it with Content-Type: ${types}`)
  }
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type ?? '')?.[1] ?? 'utf-8'
  if (!/^(utf-?8|us-ascii)$/i.test(charset)) return new Refusal(415, inUtf8)
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return new Refusal(400, 'body: is not UTF-8')
  }
  const value = parseJson(text)
  if (value === undefined) {
    return new Refusal(400, `body: is not JSON: ${jsonFaultPlace(text)}`)
  }
  // In UTF-8, half a character can only come from an escape.
  const half = /\\u[Dd][89A-Fa-f]/.test(text) ? halfCharacterIn(value) : undefined
  if (half !== undefined) return refusalOf(half, halfCharacter)
  const twice = repeatedKeyIn(text)
  return twice === undefined ? value : refusalOf(twice === '' ? '""' : twice, givenTwice)
}

const jsonForm = /^application\/(\w+\+)?json\s*(;|$)/i
/** RFC 7396 section 4: a patch in another format would be misread. */
export const patchTypes = Object.freeze(['application/merge-patch+json', 'application/json'])
const patchForm = /^application\/(merge-patch\+)?json\s*(;|$)/i

const compressed = 'the body must not be compressed: send it without Content-Encoding'
// RFC 8259 section 8.1.
const inUtf8 = 'the body must be in UTF-8: send it so, and leave the charset out of Content-Type'
const halfCharacter =
  'has half of a surrogate pair, which is no character; write both halves, such as \\ud83d\\ude00'
// Programs disagree about which value counts (RFC 8259 section 4).
const givenTwice = 'is given twice; leave one out'
const placeLengthMax = 200

function refusalOf(place: string, sentence: string): Refusal {
  return new Refusal(400, `${place.slice(0, placeLengthMax)}: ${sentence}`)
}

/**
 * Programs disagree about such text (RFC 8259 section 8.2), and no file can hold it. A loop, since
 * bodies may be nested deeper than the stack.
 *
 * @returns `spec.name`, or `body` for a place without a name; undefined: there is none
 */
function halfCharacterIn(body: unknown): string | undefined {
  const left: { readonly value: unknown; readonly at: string }[] = [{ value: body, at: '' }]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, at } = next
    if (typeof value === 'string' && !value.isWellFormed()) return at === '' ? 'body' : at
    if (typeof value !== 'object' || value === null) continue
    for (const [key, inside] of Object.entries(value)) {
      if (!key.isWellFormed()) return at === '' ? 'body' : at
      left.push({ value: inside, at: at === '' ? key : `${at}.${key}` })
    }
  }
  return undefined
}
