// A health check: how the members of a pool are probed.
import { Type } from '#lib/schema/type.ts'
import type { Of, Static } from '#lib/schema/type.ts'
import { probeFields, probeTypeNames, probeTypes } from '#probes/probe-types.ts'
import type { WrittenProbeFields } from '#probes/probe-types.ts'
import type { ProbeType } from '#probes/probe-type.ts'
import { choice } from '#schemas/forms/annotations.ts'

const Basics = {
  type: choice(probeTypeNames, {
    description: `What a probe does. ${probeTypes
      .map(({ name, does }) => `\`${name}\` ${does}`)
      .join('; ')}.`,
    default: 'tcp',
  }),
  port: Type.Integer({
    minimum: 1,
    maximum: 65_535,
    default: 80,
    description: `Port that is probed, the same for every member of the pool. ${portSentence()}`,
  }),
  intervalMs: Type.Integer({
    minimum: 100,
    maximum: 86_400_000,
    default: 10_000,
    description: 'Milliseconds between two probes of a member.',
  }),
  timeoutMs: Type.Integer({
    minimum: 1,
    maximum: 60_000,
    default: 2_000,
    description: 'Milliseconds after which a probe has failed.',
  }),
  riseCount: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 1,
    description: 'Successes in a row that make an unhealthy member healthy.',
  }),
  fallCount: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 1,
    description: 'Failures in a row that make a healthy member unhealthy.',
  }),
  scoreWindow: Type.Integer({
    minimum: 0,
    maximum: 1_000,
    default: 0,
    description: 'The last probes that make up the score of a member; 0 disables scoring.',
  }),
}

type ProbeFields = { [Name in keyof WrittenProbeFields]: Of<WrittenProbeFields[Name]> }

const ofTypes = Object.fromEntries(
  Object.entries(probeFields).map(([name, { schema }]) => [name, Type.Unsafe({ ...schema })]),
) as ProbeFields

export const HealthCheck = Type.Object(
  { ...Basics, ...ofTypes },
  {
    additionalProperties: false,
    description:
      'How the members are probed. Without it no probes are sent and every member counts as ' +
      'healthy.',
  },
)
export type HealthCheck = Static<typeof HealthCheck>

/** Sentence on how each type uses the port besides connecting to it. */
function portSentence(): string {
  const ignoring = namesOf(({ port }) => port === 'ignored')
  const passing = namesOf(({ port }) => port === 'passed on')
  const wanting = probeTypes.filter(({ port }) => typeof port === 'number')
  const wants = wanting.map(({ name, port }) => `\`${name}\` mostly wants ${port}`)
  return `Type ${ignoring} ignores it; ${[`${passing} pass it on`, ...wants].join('; ')}.`
}

function namesOf(has: (type: ProbeType) => boolean): string {
  const names = probeTypes.filter(has).map(({ name }) => `\`${name}\``)
  return names.join(' and ')
}
