// Diagnostics of rollouts and maintenance windows.
import type { DiagnosticSpec } from './diagnostic-spec.ts'

export const overlayDiagnostics = {
  'time-without-zone': {
    severity: 'error',
    message: '"%s" has no time zone',
    help: 'write %s for UTC, or add the offset, such as +02:00',
    cause: 'Nodes stand in several zones; the same text would be several instants.',
    bad: 'startAt: 2026-01-31T12:00:00',
    good: 'startAt: 2026-01-31T12:00:00Z',
  },
  'time-invalid': {
    severity: 'error',
    message: '"%s" is not an instant',
    help: 'write date, time and zone as in 2026-01-31T12:00:00Z',
    cause: 'The text is not in the form of RFC 3339, or there is no such day or hour.',
    bad: 'startAt: 31.01.2026 12:00',
    good: 'startAt: 2026-01-31T12:00:00Z',
  },
  'target-pool-unknown': {
    severity: 'error',
    message: 'there is no pool "%s" in tenant "%s"',
    help: 'write the metadata.name of a pool of the same tenant',
    cause: 'A rollout or a window is for members of its own tenant.',
    bad: 'spec: { pool: wbe, member: a }',
    good: 'spec: { pool: web, member: a }',
  },
  'target-member-unknown': {
    severity: 'error',
    message: 'there is no member "%s" in the pool "%s"',
    help: 'write the name, the address or the uid of a member: %s',
    cause: 'A rollout or a window of a member that does not exist has no effect.',
    bad: '# the pool web has the members fra1 and fra2\nspec: { pool: web, member: fra3 }',
    good: 'spec: { pool: web, member: fra2 }',
  },
  'target-member-ambiguous': {
    severity: 'error',
    message: '%s members of the pool "%s" are called "%s"',
    help: 'write the address or the uid of the one that is meant',
    cause: 'Names of members are labels, which several may share.',
    bad: '# the pool web has two members named fra\nspec: { pool: web, member: fra }',
    good: 'spec: { pool: web, member: 192.0.2.10 }',
  },
  'target-not-member': {
    severity: 'error',
    message: '"%s" does not say of which pool the member is',
    help: 'write POOL/NAME, POOL/ADDRESS, or the uid of a member',
    cause: 'Names and addresses of members are unique within their pool only.',
    bad: 'spec: { resourceType: member, resource: fra1 }',
    good: 'spec: { resourceType: member, resource: web/fra1 }',
  },
  'rollout-target': {
    severity: 'error',
    message: 'the rollout names %s',
    help: 'write member (a name or an address) or memberId (a uid), one of the two',
    cause: 'A rollout is for exactly one member.',
    bad: 'spec: { pool: web }',
    good: 'spec: { pool: web, member: fra1 }',
  },
  'rollout-member-taken': {
    severity: 'error',
    message: 'another rollout is for the member "%s" of the pool "%s"',
    help: 'remove the one that is over, or write settled: promoted (or rolled_back) into it',
    cause: 'Two rollouts of one member would both say what it weighs.',
    bad: '# rollouts/a.yaml and rollouts/b.yaml\nspec: { pool: web, member: fra1 }',
    good: '# rollouts/a.yaml\nspec: { pool: web, member: fra1, settled: promoted }',
  },
  'rollout-step-skipped': {
    severity: 'warning',
    message: 'step %s is never reached: step %s holds until the rollout is promoted',
    help: 'give the held step a holdSeconds above 0, or remove the steps between it and the last',
    cause: 'A promotion jumps to the last step.',
    bad:
      'steps:\n  - { weightPct: 10, holdSeconds: 0 }\n  - { weightPct: 50, holdSeconds: 60 }\n' +
      '  - { weightPct: 100, holdSeconds: 0 }',
    good: 'steps:\n  - { weightPct: 10, holdSeconds: 0 }\n  - { weightPct: 100, holdSeconds: 0 }',
  },
  'rollout-promotes-itself': {
    severity: 'note',
    message: 'the rollout is over %s s after its last step began: a regression no longer ends it',
    help: 'write holdSeconds: 0 in the last step for a rollout that somebody has to promote',
    cause: 'When every step has ended the rollout is promoted.',
    bad: 'steps:\n  - { weightPct: 100, holdSeconds: 600 }',
    good: 'steps:\n  - { weightPct: 100, holdSeconds: 0 }',
  },
  'rollout-long': {
    severity: 'warning',
    message: 'the steps last %s days',
    help: 'check the holdSeconds; a day has 86400',
    cause: 'A rollout of more than 90 days is more often a slip of a few zeros.',
    bad: 'steps:\n  - { weightPct: 10, holdSeconds: 86400000 }',
    good: 'steps:\n  - { weightPct: 10, holdSeconds: 86400 }',
  },
  'rollout-coarse': {
    severity: 'warning',
    message: '%s percent of the weight %s is not a whole number: the step is given %s',
    help: 'multiply the weights of all members of the pool, and baseWeight, by 100',
    cause: 'Weights are whole numbers; a small one cannot be divided.',
    bad: '# members of weight 1\nsteps:\n  - { weightPct: 10, holdSeconds: 60 }',
    good: '# members of weight 100\nsteps:\n  - { weightPct: 10, holdSeconds: 60 }',
  },
  'rollout-of-nothing': {
    severity: 'warning',
    message: 'the weight of which the steps are percentages is 0',
    help: 'write the weight that the member shall have in the end as its weight or as baseWeight',
    cause: 'Every percentage of 0 is 0: the member goes on getting no share.',
    bad: '# the member has weight 0\nspec: { pool: web, member: new1 }',
    good: 'spec: { pool: web, member: new1, baseWeight: 100 }',
  },
  'rollout-unread': {
    severity: 'note',
    message: 'no service of the pool "%s" looks at weights: the rollout changes no answer',
    help: 'give a service of the pool the algorithm weighted-round-robin, or a weighted filter',
    cause:
      'A weight counts in weighted-round-robin and sticky-weighted, and scripts are told of it. ' +
      'round-robin, failover and the others do not look at it.',
    bad: '# algorithm: round-robin\nspec: { pool: web, member: new1 }',
    good: '# algorithm: weighted-round-robin\nspec: { pool: web, member: new1 }',
  },
  'regression-never-trips': {
    severity: 'warning',
    message: '%s never ends the rollout: the pool "%s" has %s',
    help: 'give the pool %s, or remove the field',
    cause: 'What no probe measures is no regression.',
    bad:
      '# the pool has a health check without scoreWindow\n' +
      'regressionPolicy: { minHealthScore: 0.8 }',
    good:
      '# the pool has healthCheck: { scoreWindow: 20 }\n' +
      'regressionPolicy: { minHealthScore: 0.8 }',
  },
  'rollout-intents-unordered': {
    severity: 'warning',
    message: 'this intent is earlier than the one before it',
    help: 'write the intents in the order of their times',
    cause: 'They hold in the order of their times, whatever the order of the lines.',
    bad:
      'intents:\n  - { intent: abort, at: 2026-01-31T13:00:00Z }\n' +
      '  - { intent: pause, at: 2026-01-31T12:00:00Z }',
    good:
      'intents:\n  - { intent: pause, at: 2026-01-31T12:00:00Z }\n' +
      '  - { intent: abort, at: 2026-01-31T13:00:00Z }',
  },
  'rollout-intent-void': {
    severity: 'warning',
    message: '%s has no effect: at that time the rollout is %s',
    help: 'remove the intent, or change its time',
    cause:
      'Only a running rollout can be paused, only a running or paused one promoted, and nothing ' +
      'changes one that is over.',
    bad:
      'startAt: 2026-01-31T12:00:00Z\nintents:\n' +
      '  - { intent: pause, at: 2026-01-31T11:00:00Z }',
    good:
      'startAt: 2026-01-31T12:00:00Z\nintents:\n' +
      '  - { intent: pause, at: 2026-01-31T12:05:00Z }',
  },
  'rollout-over': {
    severity: 'note',
    message: 'the rollout is %s, and its member weighs %s whatever the pool says',
    help: 'write that weight into the pool, and here settled: %s',
    cause: 'A rollout that is over goes on saying what its member weighs, until it is settled.',
    bad: '# in 2027\nstartAt: 2026-01-31T12:00:00Z',
    good: '# in 2027\nstartAt: 2026-01-31T12:00:00Z\nsettled: promoted',
  },
  'window-reversed': {
    severity: 'error',
    message: 'the window ends at %s, which is not after its start',
    help: 'write an endAt that is later than startAt',
    cause: 'It would never be active.',
    bad: 'startAt: 2026-01-31T12:00:00Z\nendAt: 2026-01-31T11:00:00Z',
    good: 'startAt: 2026-01-31T12:00:00Z\nendAt: 2026-01-31T13:00:00Z',
  },
  'window-past': {
    severity: 'warning',
    message: 'the window has ended at %s',
    help: 'remove the file, or write another startAt and endAt',
    cause: 'A window in the past has no effect.',
    bad: '# in 2026\nstartAt: 2025-01-31T12:00:00Z\nendAt: 2025-01-31T13:00:00Z',
    good: '# in 2026\nstartAt: 2027-01-31T12:00:00Z\nendAt: 2027-01-31T13:00:00Z',
  },
  'windows-overlap': {
    severity: 'warning',
    message: 'another window holds out the same %s until %s',
    help: 'join the two windows, or move one',
    cause: 'The member is out of rotation until the later of the two has ended.',
    bad:
      '# windows/a.yaml: web/fra1 from 12:00 to 14:00\n# windows/b.yaml: web/fra1 from 13:00 to ' +
      '15:00',
    good: '# windows/a.yaml: web/fra1 from 12:00 to 15:00',
  },
  'overlay-empties-service': {
    severity: 'warning',
    message: 'from %s the service "%s" has no %s member to answer with',
    help: 'move it to another time, or leave another member of the pool "%s" in rotation',
    cause:
      "Rollouts and windows together leave nobody in rotation, or fewer members than the pool's " +
      'minHealthy, even if every member is healthy; and no other pool stands in.',
    bad: '# both members of the pool\nspec: { resourceType: pool, resource: web }',
    good: 'spec: { resourceType: member, resource: web/fra1 }',
  },
} as const satisfies Record<string, DiagnosticSpec>
