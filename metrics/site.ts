// The metrics of a node as a whole: what it is, what it serves, who asks its API.
import type { MetricRows } from './samples.ts'

/** Rows of the metrics table. */
export const siteRows: MetricRows = {
  gslbd_build_info: {
    help: 'The version of this node, and its name; always 1.',
    labels: ['version', 'node'],
    read: ({ build }) => [{ value: 1, labels: { ...build } }],
  },
  gslbd_zones: {
    help: 'Zones of the active bundle.',
    read: ({ objects }) => objects?.zones,
  },
  gslbd_services: {
    help: 'Services of the active bundle.',
    read: ({ objects }) => objects?.services,
  },
  gslbd_pools: {
    help: 'Pools of the active bundle.',
    read: ({ objects }) => objects?.pools,
  },
  gslbd_pool_members: {
    help:
      'Enabled members of a pool, by health. 1,000 pools are named; the members of all others ' +
      'are added up, with empty labels. Alert on pools without a healthy one.',
    labels: ['tenant', 'pool', 'health'],
    read: ({ poolMembers }) =>
      poolMembers.flatMap(({ tenant, pool, ...counts }) =>
        Object.entries(counts).map(([health, value]) => ({
          value,
          labels: { tenant, pool, health },
        })),
      ),
  },
  gslbd_api_requests_total: {
    help:
      'Requests of the API by route, as in its reference, and status. `other` is what no route ' +
      'has asked for.',
    labels: ['method', 'route', 'status'],
    read: ({ apiRequests }) =>
      apiRequests.map(({ count, method, route, status }) => ({
        value: count,
        labels: { method, route, status: String(status) },
      })),
  },
  gslbd_database_up: {
    help: '0 while the database is away: nobody can log in. Alert on it.',
    read: ({ isDatabaseUp }) => isDatabaseUp,
  },
  gslbd_backup_age_seconds: {
    help:
      'Since the newest backup in `backup.directory`. No sample: this node makes none, or has ' +
      'none yet. Alert above some times `backup.interval`.',
    read: ({ backupAgeSeconds }) => backupAgeSeconds,
  },
  gslbd_data_directory_free_ratio: {
    help: 'What is free of the disk of the data directory, 0 to 1. Alert on little.',
    read: ({ dataDirectory: { freeRatio } }) => freeRatio,
  },
  gslbd_data_directory_writable: {
    help: '0 while the data directory does not take what is to be stored. Alert on it.',
    read: ({ dataDirectory }) => dataDirectory.isWritable,
  },
}
