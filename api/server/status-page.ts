// Serves /status/: the health of chosen names, for everybody; static HTML without scripts.
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { effectiveNow } from '#api/config/effective.ts'
import { isReachable } from '#ports/member-health.ts'
import type { Ports } from '#ports/ports.ts'
import { healthOf } from '#api/resources/health-status.ts'
import { escapedHtml as escaped } from '#lib/text/html.ts'

export interface StatusPage {
  /** Names of services; empty: there is no page. */
  readonly names: readonly string[]
  readonly title: string
}

type PagePorts = Ports<'config' | 'memberHealth' | 'overlays' | 'clock'>
type Standing = 'up' | 'degraded' | 'down' | 'unknown'

const statusPath = '/status/'

/** How long caches may keep the page, and how long one copy is served to all. */
const keptSeconds = 15

const words: Readonly<Record<Standing, string>> = {
  up: 'Operational',
  degraded: 'Degraded',
  down: 'Down',
  unknown: 'Not known',
}

/** Reveals nothing of pools, members, addresses or their number. */
function standingsOf(
  ports: PagePorts,
  names: readonly string[],
): readonly { readonly name: string; readonly standing: Standing }[] {
  const snapshot = ports.config.snapshot()
  const wanted = new Set(names.map(keyOf))
  const found = new Map<string, ConfigEntry<'Service'>>()
  for (const entry of snapshot.list('Service')) {
    const key = keyOf(entry.object.spec.domain)
    if (wanted.has(key)) found.set(key, entry)
  }
  const effective = effectiveNow(ports)
  return names.map((name) => {
    const service = found.get(keyOf(name))
    const poolName = service?.object.spec.pool ?? ''
    const pool = service && snapshot.find('Pool', service.tenant, poolName)
    if (pool === undefined) return { name, standing: 'unknown' }
    // A member that is out on purpose is no fault.
    const members = partsIn('Member', pool).filter((one) => effective.of(pool.uid, one).enabled)
    const health = members.map((one) => healthOf(ports.memberHealth, one, pool.tenant))
    const up = health.filter(isReachable).length
    if (up === 0 || up < pool.object.spec.minHealthy) return { name, standing: 'down' }
    if (health.every(({ isProbed }) => !isProbed)) return { name, standing: 'unknown' }
    return { name, standing: up < members.length ? 'degraded' : 'up' }
  })
}

const keyOf = (name: string): string => name.toLowerCase().replace(/\.$/, '')

/** Outside of the table of routes, since it is no part of the API. */
export function serveStatusPage(app: FastifyInstance, ports: PagePorts, page: StatusPage): void {
  if (page.names.length === 0) return
  let made = { atMs: -Infinity, text: '', etag: '' }
  const current = () => {
    const nowMs = ports.clock.nowMs()
    const isFresh = nowMs >= made.atMs && nowMs - made.atMs < keptSeconds * 1_000
    if (isFresh) return made
    const text = htmlOf(page, standingsOf(ports, page.names), nowMs)
    const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
    made = { atMs: nowMs, text, etag }
    return made
  }
  app.get('/status', async (_request, reply) => reply.redirect(statusPath))
  app.get(statusPath, async (request, reply) => {
    if (!ports.config.isReady()) return reply.code(503).headers(unread).send(notYet)
    const { text, etag } = current()
    void reply.headers({ ...headers, etag })
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    return reply.send(text)
  })
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif;
  background: light-dark(#fff, #151b2e); color: light-dark(#171c2b, #e8ebf5) }
body { margin: 0 auto; max-width: 44rem; padding: 2rem 1rem }
h1 { font-size: 1.6rem; overflow-wrap: anywhere }
ul { list-style: none; padding: 0 }
li { display: flex; flex-wrap: wrap; gap: .2rem 1rem; justify-content: space-between;
  padding: .8rem 0; border-bottom: 1px solid #8886 }
li > span:first-child { overflow-wrap: anywhere }
.up { color: light-dark(#0d6b43, #63d8a4) }
.degraded { color: light-dark(#7d4e00, #f5c766) }
.down { color: light-dark(#b3261e, #ff9d95) }
p { color: light-dark(#59617a, #a3abc4) }
`
const styleHash = createHash('sha256').update(style).digest('base64')

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': `public, max-age=${keptSeconds}`,
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${styleHash}'; ` + "frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
} as const
const unread = { ...headers, 'cache-control': 'no-store', 'retry-after': '5' } as const
const notYet = '<!doctype html><title>Status</title><p>Starting: try again in a moment.</p>\n'

const worstFirst: readonly Standing[] = ['down', 'degraded', 'unknown', 'up']
const summaries: Readonly<Record<Standing, string>> = {
  up: 'All is well',
  degraded: 'Some is degraded',
  down: 'Something is down',
  unknown: 'Not all is known',
}

function htmlOf(
  { title }: StatusPage,
  rows: ReturnType<typeof standingsOf>,
  nowMs: number,
): string {
  const worst = worstFirst.find((one) => rows.some(({ standing }) => standing === one)) ?? 'unknown'
  const items = rows.map(
    ({ name, standing }) =>
      `<li><span>${escaped(name)}</span><strong class="${standing}">${words[standing]}</strong></li>`,
  )
  const at = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z')
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}: ${summaries[worst]}</title>
<style>${style}</style>
<main>
<h1>${escaped(title)}</h1>
<h2 class="${worst}">${summaries[worst]}</h2>
<ul>
${items.join('\n')}
</ul>
<p>As of <time datetime="${at}">${at.replace('T', ' ').replace('Z', ' UTC')}</time>.</p>
</main>
</html>
`
}
