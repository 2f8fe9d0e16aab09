// The configuration of nodes whose past is queried: services of two tenants.
import type { BundleModel } from '#bundle/format/model.ts'
import { bareModel, healthCheck, member, pool, service, zone } from './bundle-models.ts'

export const pastModel: BundleModel = {
  ...bareModel,
  commit: 'c'.repeat(40),
  zones: [zone('example.com.')],
  pools: [
    pool(1, [member('192.0.2.1', { priority: 1 }), member('192.0.2.2', { priority: 2 })], {
      name: 'web',
      tenant: 'acme',
      healthCheck,
    }),
    pool(2, ['192.0.2.9'], { name: 'other', tenant: 'zenith' }),
  ],
  services: [
    service(1, 'www.example.com.', { tenant: 'acme', pool: 0, algorithm: 'failover' }),
    service(2, 'turns.example.com.', { tenant: 'acme', pool: 0 }),
    service(3, 'theirs.example.com.', { tenant: 'zenith', pool: 1 }),
    service(4, 'fast.example.com.', { tenant: 'acme', pool: 0, filterChain: ['rum'] }),
    service(6, 'stays.example.com.', { tenant: 'acme', pool: 0, filterChain: ['sticky', 'rum'] }),
    service(5, '*.wild.example.com.', { tenant: 'acme', pool: 0, algorithm: 'failover' }),
  ],
}
