// A stand-in for the DNS records of a zone at Cloudflare: answers in the shapes of its reference,
// by pages, and refuses what the real one refuses.
import { startStandIn } from '#test/support/http-stand-in.ts'
import type { AskedOf, Given } from '#test/support/http-stand-in.ts'

type Fields = Record<string, unknown>

interface BatchBody {
  readonly deletes: readonly { id: string }[]
  readonly patches: readonly { id: string; ttl: number }[]
  readonly posts: readonly Fields[]
}

export async function startCloudflare(zoneId: string, token: string, pageSize = 3) {
  const records = new Map<string, Fields>()
  const batches: BatchBody[] = []
  const world = { records, batches, throttled: 0, retryAfter: '2' }
  let count = 0
  const put = (record: Fields): void => {
    const id = `r${++count}`
    records.set(id, { id, ttl: 1, proxied: false, ...record })
  }
  const list = ({ query }: AskedOf): Given => {
    const all = [...records.values()]
    const page = Number(query.get('page'))
    const result = all.slice((page - 1) * pageSize, page * pageSize)
    const total = Math.ceil(all.length / pageSize)
    const info = {
      page,
      per_page: pageSize,
      count: result.length,
      total_count: all.length,
      total_pages: total,
    }
    return {
      status: 200,
      body: { success: true, errors: [], messages: [], result, result_info: info },
    }
  }
  const batch = (body: BatchBody): Given => {
    batches.push(body)
    const size = body.deletes.length + body.patches.length + body.posts.length
    if (size > 200) return fault(400, 81045, 'Batch size exceeds limit')
    const next = new Map(records)
    for (const { id } of body.deletes)
      if (!next.delete(id)) return fault(400, 81044, 'Record does not exist.')
    for (const { id, ttl } of body.patches) next.set(id, { ...next.get(id)!, ttl })
    for (const post of body.posts) {
      const ttl = Number(post['ttl'])
      if (ttl < 60)
        return fault(
          400,
          9021,
          'Invalid TTL. Must be between 60 and 86400 seconds, or 1 for Automatic.',
        )
      if (String(post['name']).startsWith('bad.'))
        return fault(400, 9005, 'Content for A record must be a valid IPv4 address.')
      const id = `r${++count}`
      next.set(id, { id, proxied: false, ...post, ...contentOf(post) })
    }
    records.clear()
    for (const [id, one] of next) records.set(id, one)
    return { status: 200, body: { success: true, errors: [], messages: [], result: {} } }
  }
  const { url, asked } = await startStandIn((one) => {
    if (world.throttled > 0) {
      world.throttled--
      return {
        ...fault(429, 10429, 'Too many requests'),
        headers: { 'retry-after': world.retryAfter },
      }
    }
    if (one.headers['authorization'] !== `Bearer ${token}`)
      return fault(403, 9109, 'Invalid access token')
    if (!one.path.startsWith(`/zones/${zoneId}/`))
      return fault(404, 7003, 'Could not route to /zones')
    return one.method === 'GET' ? list(one) : batch(one.body as BatchBody)
  })
  return { url, asked, put, world }
}

const fault = (status: number, code: number, message: string): Given => ({
  status,
  body: { success: false, errors: [{ code, message }], messages: [], result: null },
})

/** Types with parts in `data` get a content made of them. */
function contentOf(post: Fields): Fields {
  const data = post['data'] as Fields | undefined
  if (data === undefined) return {}
  const { priority, ...others } = data
  const hasPriority = post['type'] === 'SRV' || post['type'] === 'HTTPS'
  return {
    content: Object.values(hasPriority ? others : data).join(post['type'] === 'SRV' ? ' ' : '\t'),
    ...(hasPriority ? { priority } : {}),
  }
}
