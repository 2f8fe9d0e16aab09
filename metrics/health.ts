// The metrics of health: probes, members, outside monitors, other nodes and the bus to them.
import { probeTypeNames } from '#probes/probe-types.ts'
import { bounded } from './samples.ts'
import type { MetricRows, Sample } from './samples.ts'

const knownTypes: readonly string[] = probeTypeNames
const probeResults = 'success failure timeout local-error'.split(' ')

/** Rows of the metrics table. */
export const healthRows: MetricRows = {
  gslbd_probes_total: {
    help: `Health probes that ended, by type (${probeTypeNames.join(', ')}) and result.`,
    labels: ['type', 'result'],
    read: ({ health }) =>
      Object.entries(health.probes).flatMap(([type, results]) =>
        bounded(results, probeResults).map(([result, value]) => ({
          value,
          labels: { type: knownTypes.includes(type) ? type : 'other', result },
        })),
      ),
  },
  gslbd_probes_late_total: {
    help: 'Probes that began later than planned: the node has more to probe than it manages.',
    read: ({ health }) => health.late,
  },
  gslbd_probe_targets: {
    help: 'Addresses of members that this node probes.',
    read: ({ health }) => health.targets,
  },
  gslbd_probe_worker_restarts_total: {
    help: 'Health workers that ended by themselves and were replaced.',
    read: ({ health }) => health.workerRestarts,
  },
  gslbd_members: {
    help: 'Enabled members of the active bundle; `warming`: healthy, but its gate is closed.',
    labels: ['health'],
    read: ({ health: { members } }) => {
      const { healthy, unhealthy, warming } = members
      return byHealth({ healthy, unhealthy, warming })
    },
  },
  gslbd_members_unprobed: {
    help: 'Healthy members that nobody probes: their pool has no check that the node makes.',
    read: ({ health: { members } }) => members.unprobed,
  },
  gslbd_members_signalled: {
    help: 'Members of whom outside monitors say something now, by what they say together.',
    labels: ['health'],
    read: ({ health: { signalled } }) => byHealth({ ...signalled }),
  },
  gslbd_peer_nodes: {
    help: 'Other nodes whose word on members was heard lately. No sample: the node is alone.',
    read: ({ health: { peers } }) => peers,
  },
  gslbd_redis_up: {
    help: '0 while Redis is not reached and the node goes on with its own view. Alert on it.',
    read: ({ isRedisUp }) => isRedisUp,
  },
}

const byHealth = (counts: Readonly<Record<string, number>>): Sample[] =>
  Object.entries(counts).map(([health, value]) => ({ value, labels: { health } }))
