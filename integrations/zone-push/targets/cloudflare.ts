// Pushes a zone to Cloudflare, by version 4 of its API: DNS records, and batches of them.
import { cloudflareLimits as limits, pushLimits } from '#integrations/zone-push/limits.ts'
import type { PacedRequests, TextAnswer } from '#integrations/zone-push/paced-requests.ts'
import type { PushTarget, Sent, SetChange, ThereSet } from '#integrations/zone-push/push-target.ts'
import {
  canonicalName,
  canonicalValue,
  setKey,
  sorted,
} from '#integrations/zone-push/record-sets.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { fieldsOf, parseJson } from '#lib/text/json.ts'
import type { Fields } from '#lib/text/json.ts'
import { hasCloudflareForm, recordFields, valueOfRecord } from './cloudflare-record.ts'

interface CloudflareParts {
  /** Address of the API, without a slash at its end. */
  readonly url: string
  readonly zoneId: string
  /** Errors: a sentence that names where it belongs. */
  readonly token: () => Result<string, string>
  readonly requests: PacedRequests
}

/** Seconds of TTL 1, which means "automatic". */
const automaticTtl = 300

interface CloudflareThere extends ThereSet {
  /** Ids of records, by value. */
  readonly ids: ReadonlyMap<string, string>
}

export function createCloudflare(parts: CloudflareParts): PushTarget {
  const { ttlMinSeconds, ttlMaxSeconds, batchMax } = limits
  const path = `/zones/${encodeURIComponent(parts.zoneId)}/dns_records`
  return {
    place: `cloudflare ${parts.url} ${parts.zoneId}`,
    fit: (set) => {
      if (!hasCloudflareForm(set.type)) return `Cloudflare gets no records of type ${set.type}`
      const ttlSeconds = Math.min(Math.max(set.ttlSeconds, ttlMinSeconds), ttlMaxSeconds)
      return { ...set, ttlSeconds }
    },
    read: (signal) => readAll(parts, path, signal),
    weightMax: batchMax,
    weigh: ({ before, after, adds, deletes }) =>
      adds.length +
      deletes.length +
      (before?.ttlSeconds === after.ttlSeconds ? 0 : 1) * (before?.values.length ?? 0),
    send: async (changes, signal): Promise<Sent> => {
      const asked = await ask(parts, `${path}/batch`, batchOf(changes), signal)
      if (!asked.ok) return { is: 'failed', why: asked.error }
      const { answer, json } = asked.value
      if (answer.status < 300 && json['success'] === true) return { is: 'done' }
      const why = faultOf(answer, json)
      if (answer.status >= 500 || answer.status < 300) return { is: 'failed', why }
      return { is: answer.status === 400 ? 'refused' : 'stopped', why }
    },
  }
}

interface Asked {
  readonly answer: TextAnswer
  readonly json: Fields
}

async function ask(
  { url, token, requests }: CloudflareParts,
  path: string,
  body: object | null,
  signal: AbortSignal,
): Promise<Result<Asked, string>> {
  const secret = token()
  if (!secret.ok) return secret
  const request = {
    ...({ url: `${url}${path}`, method: body === null ? 'GET' : 'POST', signal } as const),
    headers: { authorization: `Bearer ${secret.value}` },
    bytesMax: limits.bytesMax,
    ...(body === null ? {} : { body }),
  }
  const asked = await requests.ask(
    request,
    () => request,
    ({ status }) => status === 429 || status === 503,
  )
  if (!asked.ok) return asked
  return ok({ answer: asked.value, json: fieldsOf(parseJson(asked.value.text)) })
}

async function readAll(
  parts: CloudflareParts,
  path: string,
  signal: AbortSignal,
): Promise<Result<readonly ThereSet[], string>> {
  const { host } = new URL(parts.url)
  const records: Fields[] = []
  for (let page = 1; ; page++) {
    const query = `?per_page=${limits.pageMax}&page=${page}&order=name`
    const asked = await ask(parts, `${path}${query}`, null, signal)
    if (!asked.ok) return asked
    const { answer, json } = asked.value
    const { result, success, result_info: pages } = json
    if (answer.status >= 300 || success !== true) return err(faultOf(answer, json))
    if (!Array.isArray(result)) return err(`${host} answers without a list of records`)
    records.push(...(result as readonly unknown[]).map(fieldsOf))
    if (records.length > pushLimits.recordsMax) {
      return err(`${host} has more than ${pushLimits.recordsMax} records in the zone`)
    }
    const all = Number(fieldsOf(pages)['total_pages'] ?? 1)
    if (result.length === 0 || page >= all) return ok(setsOfRecords(records))
  }
}

function setsOfRecords(records: readonly Fields[]): readonly ThereSet[] {
  const sets = new Map<string, CloudflareThere & { readonly ids: Map<string, string> }>()
  for (const record of records) {
    const { name, type, id, ttl, proxied } = record
    const owner = canonicalName(String(name)) ?? String(name)
    const text = valueOfRecord(record)
    const value = canonicalValue(String(type), text) ?? text
    const key = setKey({ owner, type: String(type) })
    const known = sets.get(key)
    const ids = (known?.ids ?? new Map<string, string>()).set(value, String(id))
    const closed = known?.closed ?? (proxied === true ? isProxied : undefined)
    const seconds = Number(ttl) === 1 ? automaticTtl : Number(ttl)
    sets.set(key, {
      ...{ owner, type: String(type), ids, values: sorted(ids.keys()) },
      ttlSeconds: Math.min(known?.ttlSeconds ?? seconds, seconds),
      ...(closed === undefined ? {} : { closed }),
    })
  }
  return [...sets.values()]
}

const isProxied = 'it is proxied: its clients get addresses of Cloudflare'

/** Carried out in one transaction, in the order deletes, patches, posts. */
function batchOf(changes: readonly SetChange[]): object {
  const idsOf = ({ before }: SetChange): ReadonlyMap<string, string> =>
    (before as CloudflareThere | undefined)?.ids ?? new Map()
  const isGone = new Set(
    changes.flatMap((change) => change.deletes.map((value) => idsOf(change).get(value))),
  )
  const patches = changes
    .filter(({ before, after }) => before !== undefined && before.ttlSeconds !== after.ttlSeconds)
    .flatMap((change) =>
      [...idsOf(change).values()]
        .filter((id) => !isGone.has(id))
        .map((id) => ({ id, ttl: change.after.ttlSeconds })),
    )
  return {
    deletes: [...isGone].map((id) => ({ id })),
    patches,
    posts: changes.flatMap(({ owner, type, after, adds }) =>
      adds.map((value) => ({
        ...{ name: owner.replace(/\.$/, ''), type, ttl: after.ttlSeconds },
        ...recordFields(type, value),
      })),
    ),
  }
}

/** A sentence, without a header of the request. */
function faultOf({ status }: TextAnswer, { errors }: Fields): string {
  const [first] = Array.isArray(errors) ? (errors as readonly unknown[]).map(fieldsOf) : []
  const said = first === undefined ? '' : `: ${String(first['message'])} (${String(first['code'])})`
  const hint = hints[status] ?? ''
  return `Cloudflare answers ${status}${said.replaceAll(/\s+/g, ' ').slice(0, 300)}${hint}`
}

const wrongToken = '; look at the token, which has to have the permission DNS Write on this zone'
const hints: Readonly<Record<number, string>> = {
  401: wrongToken,
  403: wrongToken,
  404: '; look at zoneId',
}
