// The metrics of health: probes, members, outside monitors, other nodes and the bus to them.
import { probeTypeNames } from '#probes/probe-types.ts'
import { bounded } from './samples.ts'
import type { MetricRow, Sample } from './samples.ts'

const knownTypes: readonly string[] = probeTypeNames
const probeResults = 'success failure timeout local-error'.split(' ')

/** Rows of the metrics table. */
export const healthRows: readonly MetricRow[] = [
  {
    name: 'gslbd_probes_total',
    type: 'counter',
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
  {
    name: 'gslbd_probes_late_total',
    type: 'counter',
    help: 'Probes that began later than planned: the node has more to probe than it manages.',
    read: ({ health }) => health.late,
  },
  {
    name: 'gslbd_probe_targets',
    type: 'gauge',
    help: 'Addresses of members that this node probes.',
    read: ({ health }) => health.targets,
  },
  {
    name: 'gslbd_probe_worker_restarts_total',
    type: 'counter',
    help: 'Health workers that ended by themselves and were replaced.',
    read: ({ health }) => health.workerRestarts,
  },
  {
    name: 'gslbd_members',
    type: 'gauge',
    help: 'Enabled members of the active bundle; `warming`: healthy, but its gate is closed.',
    labels: ['health'],
    read: ({ health: { members } }) => {
      const { healthy, unhealthy, warming } = members
      return byHealth({ healthy, unhealthy, warming })
    },
  },
  {
    name: 'gslbd_members_unprobed',
    type: 'gauge',
    help: 'Healthy members that nobody probes: their pool has no check that the node makes.',
    read: ({ health: { members } }) => members.unprobed,
  },
  {
    name: 'gslbd_members_signalled',
    type: 'gauge',
    help: 'Members of whom outside monitors say something now, by what they say together.',
    labels: ['health'],
    read: ({ health: { signalled } }) => byHealth({ ...signalled }),
  },
  {
    name: 'gslbd_peer_nodes',
    type: 'gauge',
    help: 'Other nodes whose word on members was heard lately. No sample: the node is alone.',
    read: ({ health: { peers } }) => peers,
  },
  {
    name: 'gslbd_redis_up',
    type: 'gauge',
    help: '0 while Redis is not reached and the node goes on with its own view. Alert on it.',
    read: ({ isRedisUp }) => isRedisUp,
  },
]

const byHealth = (counts: Readonly<Record<string, number>>): Sample[] =>
  Object.entries(counts).map(([health, value]) => ({ value, labels: { health } }))
