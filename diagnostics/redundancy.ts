// Diagnostics of what one failure, or a maintenance window, does to names.
import type { DiagnosticSpec } from './diagnostic-spec.ts'

export const redundancyDiagnostics = {
  'weak-spot': {
    severity: 'note',
    message: 'when %s is down, %s has no %s',
    help:
      'add a member elsewhere, or a fallback with onAllDown: pool:NAME; weakSpots: false if it ' +
      'is meant',
    cause:
      'All members that can answer fail together, or too few are left for minHealthy. Members of ' +
      'pools without a health check never go down. Members say their region, site and provider.',
    bad: '# all members have the site fra1\npool: web',
    good: '# one of them stands elsewhere\npool: web',
  },
  'member-over-capacity': {
    severity: 'warning',
    message: '%s, %s gets %s % of the clients of %s, and its capacity is %s',
    help: 'add members, move weight, or correct the capacity',
    cause:
      'The capacity of a member says how many percent of the clients of its pool it bears. The ' +
      'shares are those of round-robin, weighted-round-robin and failover; other ways send ' +
      'clients by what is known of them.',
    bad: '- { ipAddress: 192.0.2.1, port: 80, capacity: 40 }\n- { ipAddress: 192.0.2.2, port: 80 }',
    good:
      '- { ipAddress: 192.0.2.1, port: 80, capacity: 100 }\n' +
      '- { ipAddress: 192.0.2.2, port: 80 }',
  },
  'fallback-ends-nowhere': {
    severity: 'warning',
    message: 'the fallback pool "%s" answers nothing when it is wanted: %s',
    help: 'give it other members, or name another pool',
    cause:
      'The fallback answers when the pool of the service has nobody left. Where its members are ' +
      'probed and are those of that pool, it has nobody either.',
    bad: '# spare has the members of web, and a health check\npool: web\nonAllDown: pool:spare',
    good: '# spare has members that stand elsewhere\npool: web\nonAllDown: pool:spare',
  },
  'window-leaves-one': {
    severity: 'note',
    message: '%s one member of the pool "%s" is left for %s',
    help: 'move one of the windows or rollouts, or add a member; weakSpots: false if it is meant',
    cause:
      'Windows and rollouts of the coming two weeks are looked at. While one member is left, its ' +
      'failure is a failure of the name.',
    bad: '# web has two members\nspec: { resourceType: member, resource: web/fra1, … }',
    good: '# web has three members\nspec: { resourceType: member, resource: web/fra1, … }',
  },
} as const satisfies Readonly<Record<string, DiagnosticSpec>>
