// An API over a bundle and a store of real-user measurements, without a network.
import { createApp } from '#api/server/app.ts'
import { apiLimits } from '#http/limits.ts'
import { SourceBuckets } from '#access/admit/source-buckets.ts'
import { createNodeRum } from '#node/api/rum.ts'
import { RumStore } from '#inputs/rum/rum-store.ts'
import type { AuditEntry } from '#state/ports/audit.ts'
import { portsOf } from './api-ports.ts'
import { bundleOf, member, pool, service, uid, zone } from './bundle-models.ts'
import { FakeTime } from './fake-time.ts'

/** Two members of `www.example.org.` may be measured, the third may not. */
export const measured = ['192.0.2.1', '2001:db8::2'] as const
export const unmeasured = '192.0.2.3'
export const membersOfMany = 40

const rumUrl = (number: number): string => `https://m${number}.example.org/ping`
const bundle = bundleOf({
  zones: [zone('example.org.')],
  pools: [
    pool(1, [
      ...measured.map((address, i) => member(address, { uid: uid(i + 1), rumUrl: rumUrl(i + 1) })),
      member(unmeasured, { uid: uid(3) }),
    ]),
    pool(
      2,
      Array.from({ length: membersOfMany }, (_, i) =>
        member(`198.51.100.${i + 1}`, { uid: uid(i + 10), rumUrl: rumUrl(i + 10) }),
      ),
    ),
  ],
  services: [
    service(1, 'www.example.org.', { pool: 0 }),
    service(2, 'many.example.org.', { pool: 1 }),
  ],
})

export const ingestPath = '/api/v1/rum/ingest'

interface Post {
  readonly remoteAddress?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** @param trustedProxies the setting of that name */
export function rumScene(trustedProxies: readonly string[] = []) {
  const time = new FakeTime(Date.UTC(2026, 0, 15))
  const store = new RumStore(time.clock)
  const audit: AuditEntry[] = []
  const ports = portsOf({
    clock: time.clock,
    rum: createNodeRum(store, () => bundle),
    rumSources: new SourceBuckets(apiLimits.rum, time.clock),
    audit: { write: (entry) => audit.push(entry) },
  })
  const app = createApp(ports, trustedProxies)
  /** Posts like `sendBeacon` by default. */
  const post = (payload: string | Buffer, { remoteAddress, headers = {} }: Post = {}) =>
    app.inject({
      method: 'POST',
      url: ingestPath,
      headers: { 'content-type': 'text/plain;charset=UTF-8', ...headers },
      payload,
      ...(remoteAddress === undefined ? {} : { remoteAddress }),
    })
  return { app, store, time, audit, post }
}
