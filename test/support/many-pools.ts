// Gives the dashboard ten thousand pools and services, and a feed that never rests.
import type { Page } from 'playwright-core'

const idOf = (kind: string, i: number): string =>
  `${kind}-0000-7000-8000-${i.toString().padStart(12, '0')}`
const nameOf = (i: number): string => `shop-${i.toString().padStart(5, '0')}`
const regions = ['DE', 'US', 'SG', 'BR', 'fra1'] as const

/** In the form of GET /api/v1/snapshot. */
function snapshotOf(count: number): string {
  const each = Array.from({ length: count }, (_, i) => i)
  const pools = each.map((i) => ({ id: idOf('pool', i), name: nameOf(i), minHealthy: 0 }))
  const members = each.map((i) => [idOf('pool', i), [0, 1].map((part) => memberOf(i, part))])
  const services = each.map((i) => ({
    ...{ id: idOf('service', i), name: nameOf(i), domain: `${nameOf(i)}.example.com.` },
    ...{ algorithm: 'round-robin', ttl: 60, poolId: idOf('pool', i), filterChain: [] },
    ...{ onAllDown: 'empty', answerCount: 1 },
  }))
  return JSON.stringify({
    ...{ pools, members: Object.fromEntries(members) as object, services },
    ...{ healthStatus: {}, geoRules: {}, stats: {}, timestamp: 0 },
  })
}

const memberOf = (i: number, part: number) => ({
  ...{ id: idOf('member', 2 * i + part), poolId: idOf('pool', i), name: `${nameOf(i)}-${part}` },
  ...{ ipAddress: `10.${i >> 8}.${i & 255}.${part + 1}`, port: 443, weight: 10, priority: 0 },
  ...{ enabled: true, region: regions[i % regions.length], warmupThreshold: 0, rumUrl: '' },
  ...{ externalSignalMode: 'and', declaredWeight: 10, declaredEnabled: true, heldBy: null },
})

/** Replaces the node's feed: sends health changes of members in turn. */
const feed = (count: number): string => `
  globalThis.WebSocket = class {
    constructor() {
      globalThis.changeHealth = (changes) => { for (; changes > 0; changes--) this.change() }
      let timer
      globalThis.changeHealthEachSecond = (changes) => {
        clearInterval(timer)
        if (changes > 0) timer = setInterval(() => this.change(), 1_000 / changes)
      }
      setTimeout(() => this.onopen())
    }
    at = 0
    change() {
      const member = this.at % ${2 * count}
      const healthy = Math.floor(this.at++ / ${2 * count}) % 2 === 1
      const id = (kind, i) => kind + '-0000-7000-8000-' + String(i).padStart(12, '0')
      const payload = {
        poolId: id('pool', member >> 1), memberId: id('member', member), ipAddress: '10.0.0.1',
        healthy, score: healthy ? 1 : 0, timestamp: this.at, rttMs: 3, node: 'fra1',
        reason: healthy ? '' : 'connection refused', since: 0, lastCheck: 0,
      }
      this.onmessage({ data: JSON.stringify({ type: 'health_update', payload }) })
    }
    close() {}
  }`

/** Call it before the page is loaded. The page asks the node for the rest. */
export async function feedMany(page: Page, count: number): Promise<void> {
  const body = snapshotOf(count)
  await page.route('**/api/v1/snapshot', (route) =>
    route.fulfill({ contentType: 'application/json', headers: { 'x-gslb-revision': 'r' }, body }),
  )
  await page.addInitScript(feed(count))
}
