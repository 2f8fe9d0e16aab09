// The section `dns.rrl` of gslbd.yaml: how many answers a network of clients gets.
import { rateLimits } from '#answer/rate-limit/limits.ts'
import { boolean, duration, integer, networks, section } from '#settings/forms/forms.ts'

const { perSecondMax, windowMsMin, windowMsMax, slipMax, bucketsMin, bucketsMax } = rateLimits

const perSecond = (description: string) =>
  integer(0, perSecondMax, { 'x-reload': true, default: 20, description })

export const rrl = section(
  'Response rate limiting: a flood of questions with the address of a victim gets few answers. ' +
    'Over UDP alone; a client with a valid cookie is not limited. [More](../operations/rrl.md).',
  {
    enabled: boolean({
      default: false,
      description: 'Whether answers are limited. Each network of clients has its own limits.',
    }),
    dryRun: boolean({
      'x-reload': true,
      default: false,
      description: 'Whether what would be limited is only counted and logged.',
    }),
    responsesPerSecond: perSecond(
      'Answers with records to one network, for one name; names of a wildcard, or below a ' +
        'DNAME, count as one. 0: no limit.',
    ),
    referralsPerSecond: perSecond('Referrals to one network, for one delegation. 0: no limit.'),
    nodataPerSecond: perSecond(
      'Answers to one network, for one name, that it has no such records. 0: no limit.',
    ),
    nxdomainsPerSecond: perSecond(
      'Answers to one network, for one zone, that there is no such name. 0: no limit.',
    ),
    errorsPerSecond: perSecond('Errors to one network, such as REFUSED. 0: no limit.'),
    allPerSecond: integer(0, perSecondMax, {
      'x-reload': true,
      default: 0,
      description:
        'Answers to one network, whatever they are. It bounds a flood that asks for many names, ' +
        'and must be far above what a resolver asks. 0: no limit.',
    }),
    window: duration({
      default: '2s',
      minimumMs: windowMsMin,
      maximumMs: windowMsMax,
      reload: true,
      description:
        'A network that was quiet gets at once the answers of this time, then as many a second ' +
        'as the limits say.',
    }),
    slip: integer(0, slipMax, {
      'x-reload': true,
      default: 2,
      description:
        'One of so many answers beyond a limit is an empty one with TC, after which a client ' +
        'asks over TCP; the others are dropped. 1: each; 0: none.',
    }),
    ipv4PrefixLength: integer(8, 32, {
      default: 24,
      description: 'Clients with so many leading bits in common are one network.',
    }),
    ipv6PrefixLength: integer(16, 64, { default: 56, description: 'The same for IPv6.' }),
    exempt: networks({
      description:
        'Networks of clients that are not limited by this node. `rateLimitExempt` of ' +
        'gslb.yaml has those of all nodes.',
    }),
    tableSize: integer(bucketsMin, bucketsMax, {
      default: 131_072,
      description:
        'Buckets of answers, rounded up to a power of two; each takes 8 octets. A network has ' +
        'one for each name and class of answers that it got lately.',
    }),
  },
)
