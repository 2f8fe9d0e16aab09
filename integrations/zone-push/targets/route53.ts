// Pushes a zone to a hosted zone of Route 53, by its API of 2013-04-01.
import { pushLimits, route53Limits as limits } from '#integrations/zone-push/limits.ts'
import { awsHeaders } from '#integrations/zone-push/aws-signature.ts'
import type { AwsKey } from '#integrations/zone-push/aws-signature.ts'
import type { PacedRequests, TextAnswer } from '#integrations/zone-push/paced-requests.ts'
import type { PushTarget, Sent, SetChange, ThereSet } from '#integrations/zone-push/push-target.ts'
import { canonicalName, canonicalValue, sorted } from '#integrations/zone-push/record-sets.ts'
import type { RecordSet } from '#integrations/zone-push/record-sets.ts'
import { childOf, childrenOf, escapeXml, parseXml, textIn } from '#integrations/zone-push/xml.ts'
import type { XmlElement } from '#integrations/zone-push/xml.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

interface Route53Parts {
  /** Address of the API, without a slash at its end. */
  readonly url: string
  /** Such as `Z111111QQQQQQQ`. */
  readonly zoneId: string
  /** Read for each request: credentials may be replaced. Errors: a sentence. */
  readonly key: () => Result<AwsKey, string>
  readonly requests: PacedRequests
  readonly clock: Pick<Clock, 'nowMs'>
}

const types = /^(A|AAAA|CAA|CNAME|DS|HTTPS|MX|NAPTR|NS|PTR|SOA|SPF|SRV|SSHFP|SVCB|TLSA|TXT)$/
const namespace = 'https://route53.amazonaws.com/doc/2013-04-01/'
/** The service is in this region alone. */
const region = 'us-east-1'

/** A set with its values as the API gave them: to delete it, they are sent back. */
interface Route53There extends ThereSet {
  readonly raw: readonly string[]
}

export function createRoute53(parts: Route53Parts): PushTarget {
  const path = `/2013-04-01/hostedzone/${encodeURIComponent(parts.zoneId)}/rrset`
  const api = new Api(parts, path)
  return {
    place: `route53 ${parts.url} ${parts.zoneId}`,
    fit: (set) => (types.test(set.type) ? set : `Route 53 has no records of type ${set.type}`),
    read: (signal) => readAll(api, signal),
    weightMax: 1_000,
    weigh: (change) => {
      const values = valuesOf(change)
      const characters = values.reduce((sum, value) => sum + value.length, 0)
      const most = Math.max(values.length / limits.valuesMax, characters / limits.charactersMax)
      return most * 1_000
    },
    send: async (changes, signal): Promise<Sent> => {
      const asked = await api.ask('POST', '', bodyOf(changes), signal)
      if (!asked.ok) return { is: 'failed', why: asked.error }
      const { answer, document } = asked.value
      if (answer.status < 300) return { is: 'done' }
      const why = faultOf(answer, document, parts.clock.nowMs())
      if (answer.status >= 500) return { is: 'failed', why }
      // Where it is too busy, or lets nothing in, a half would not do better.
      const isOfBatch = answer.status === 400 && !isThrottled(answer)
      return { is: isOfBatch ? 'refused' : 'stopped', why }
    },
  }
}

interface Asked {
  readonly answer: TextAnswer
  /** undefined: the answer is no XML. */
  readonly document: XmlElement | undefined
}

class Api {
  readonly parts: Route53Parts
  readonly #path: string

  constructor(parts: Route53Parts, path: string) {
    this.parts = parts
    this.#path = path
  }

  async ask(
    method: 'GET' | 'POST',
    query: string,
    body: string,
    signal: AbortSignal,
  ): Promise<Result<Asked, string>> {
    const { parts } = this
    const key = parts.key()
    if (!key.ok) return key
    const url = new URL(`${parts.url}${this.#path}${query}`)
    const at = { url: url.href, signal }
    const asked = await parts.requests.ask(
      at,
      async () => {
        const signed = { method, url, body, region, service: 'route53', nowMs: parts.clock.nowMs() }
        return {
          ...{ ...at, method, bytesMax: limits.bytesMax },
          headers: { accept: 'text/xml', ...(await awsHeaders(key.value, signed)) },
          ...(body === '' ? {} : { body, bodyType: 'text/xml' }),
        }
      },
      isThrottled,
    )
    if (!asked.ok) return asked
    const document = parseXml(asked.value.text)
    return ok({ answer: asked.value, document: document.ok ? document.value : undefined })
  }
}

/** It says so by 400, and a code. */
const isThrottled = ({ status, text }: TextAnswer): boolean =>
  status === 429 ||
  status === 503 ||
  (status === 400 && /<Code>(Throttling|PriorRequestNotComplete)<\/Code>/.test(text))

async function readAll(
  api: Api,
  signal: AbortSignal,
): Promise<Result<readonly ThereSet[], string>> {
  const { host } = new URL(api.parts.url)
  const sets: Route53There[] = []
  let from = ''
  for (;;) {
    const asked = await api.ask('GET', `?maxitems=${limits.pageMax}${from}`, '', signal)
    if (!asked.ok) return asked
    const { answer, document } = asked.value
    if (answer.status >= 300) return err(faultOf(answer, document, api.parts.clock.nowMs()))
    const list = document && childOf(document, 'ResourceRecordSets')
    if (document === undefined || list === undefined) {
      return err(`${host} answers without a list of record sets`)
    }
    for (const element of childrenOf(list, 'ResourceRecordSet')) sets.push(setOf(element))
    const count = sets.reduce((sum, { values }) => sum + values.length, 0)
    if (count > pushLimits.recordsMax) {
      return err(`${host} has more than ${pushLimits.recordsMax} records in the zone`)
    }
    if (textIn(document, 'IsTruncated') !== 'true') return ok(joined(sets))
    const next = nextPage(document)
    if (next === from || next === '') return err(`${host} does not say where its list goes on`)
    from = next
  }
}

function nextPage(document: XmlElement): string {
  const names = {
    name: 'NextRecordName',
    type: 'NextRecordType',
    identifier: 'NextRecordIdentifier',
  }
  return Object.entries(names)
    .map(([key, name]) => [key, textIn(document, name)] as const)
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `&${key}=${encodeURIComponent(value)}`)
    .join('')
}

function setOf(element: XmlElement): Route53There {
  const type = textIn(element, 'Type')
  const name = decimalEscapes(textIn(element, 'Name'))
  const records = childOf(element, 'ResourceRecords')
  const raw = records
    ? childrenOf(records, 'ResourceRecord').map((one) => textIn(one, 'Value'))
    : []
  const values = raw.map((value) => {
    const text = decimalEscapes(value)
    return canonicalValue(type, text) ?? text
  })
  const closed = closedBy(element)
  return {
    ...{ owner: canonicalName(name) ?? name, type, values: sorted(values), raw },
    ttlSeconds: Number(textIn(element, 'TTL')),
    ...(closed === undefined ? {} : { closed }),
  }
}

function closedBy(element: XmlElement): string | undefined {
  if (childOf(element, 'SetIdentifier')) return 'it has a routing policy of Route 53'
  if (childOf(element, 'AliasTarget')) return 'it is an alias of Route 53'
  if (childOf(element, 'TrafficPolicyInstanceId')) return 'it is of a traffic policy of Route 53'
  return childOf(element, 'HealthCheckId') ? 'it has a health check of Route 53' : undefined
}

/** Sets of one name and type with a routing policy are several; one stands for them. */
function joined(sets: readonly Route53There[]): readonly ThereSet[] {
  return [...new Map(sets.map((set) => [`${set.owner} ${set.type}`, set])).values()]
}

/**
 * The old set is deleted as it was read, and the new one is created, in one request: where somebody
 * else has changed it meanwhile, it is refused, and what they wrote stays.
 */
function bodyOf(changes: readonly SetChange[]): string {
  const gone = changes.flatMap(({ before }) =>
    before === undefined ? [] : [changeXml('DELETE', before, rawOf(before))],
  )
  const coming = changes.flatMap(({ after }) =>
    after.values.length === 0 ? [] : [changeXml('CREATE', after, after.values.map(octalEscapes))],
  )
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<ChangeResourceRecordSetsRequest xmlns="${namespace}">` +
    `<ChangeBatch><Changes>${[...gone, ...coming].join('')}</Changes></ChangeBatch>` +
    '</ChangeResourceRecordSetsRequest>'
  )
}

const valuesOf = ({ before, after }: SetChange): readonly string[] => [
  ...(before === undefined ? [] : rawOf(before)),
  ...after.values,
]

const rawOf = (set: ThereSet): readonly string[] => (set as Route53There).raw

function changeXml(action: string, set: RecordSet, values: readonly string[]): string {
  const records = values.map(
    (value) => `<ResourceRecord><Value>${escapeXml(value)}</Value></ResourceRecord>`,
  )
  return (
    `<Change><Action>${action}</Action><ResourceRecordSet>` +
    `<Name>${escapeXml(octalEscapes(set.owner))}</Name><Type>${set.type}</Type>` +
    `<TTL>${set.ttlSeconds}</TTL><ResourceRecords>${records.join('')}</ResourceRecords>` +
    '</ResourceRecordSet></Change>'
  )
}

/** Route 53 writes an octet as three octal digits, zone files as three decimal ones. */
const decimalEscapes = (text: string): string =>
  text.replaceAll(/\\(?:([0-3][0-7]{2})|[^])/g, (all, octal: string | undefined) =>
    octal === undefined ? all : `\\${String(parseInt(octal, 8)).padStart(3, '0')}`,
  )

const octalEscapes = (text: string): string =>
  text.replaceAll(/\\(?:(\d{3})|[^])/g, (all, decimal: string | undefined) =>
    decimal === undefined ? all : `\\${Number(decimal).toString(8).padStart(3, '0')}`,
  )

/** A sentence, without a header of the request. */
function faultOf(answer: TextAnswer, document: XmlElement | undefined, nowMs: number): string {
  const said = document && (childOf(document, 'Error') ?? childOf(document, 'Messages') ?? document)
  const code = said === undefined ? '' : textIn(said, 'Code')
  const message = said === undefined ? '' : textIn(said, 'Message')
  const shown = message.replaceAll(/\s+/g, ' ').slice(0, 300)
  const skewMs = Date.parse(answer.headers.date ?? '') - nowMs
  const hint = hintOf(answer.status, code, skewMs)
  const what = code === '' ? '' : ` ${code}`
  return `Route 53 answers ${answer.status}${what}${shown === '' ? '' : `: ${shown}`}${hint}`
}

/** A signature is valid for five minutes. */
const skewMaxMs = 240_000

function hintOf(status: number, code: string, skewMs: number): string {
  if (status === 403 && Math.abs(skewMs) > skewMaxMs) {
    const seconds = Math.round(Math.abs(skewMs) / 1_000)
    return `; the clock of this node is ${seconds} s ${skewMs > 0 ? 'behind' : 'ahead'}: set it`
  }
  if (code === 'NoSuchHostedZone') return '; look at zoneId'
  if (status === 401 || status === 403) return '; look at the credentials, and what they may do'
  return ''
}
