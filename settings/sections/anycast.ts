// The settings of announced service addresses: `anycast` in gslbd.yaml.
import { isIP } from 'node:net'
import { choice, duration, integer, list, networks, section, text } from '#settings/forms/forms.ts'
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'

const bird = section('BIRD 2, over its control socket.', {
  socket: text(107, {
    default: '/run/bird/bird.ctl',
    'x-kind': 'path',
    description: 'Its control socket. The user of the node must be in the group of the socket.',
  }),
  protocols: Type.Optional(
    Type.Array(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,63}$' }), {
      default: ['gslbd'],
      minItems: 1,
      maxItems: 16,
      'x-expected': 'a list of names of protocols, such as [gslbd4, gslbd6]',
      description:
        'Protocols that are enabled and disabled: of the kind `static`, with the routes of the ' +
        'addresses, one for each family. In bird.conf they are `disabled`.',
    }),
  ),
})

const exabgp = section('ExaBGP, by commands in a named pipe.', {
  pipe: text(4_096, {
    default: '',
    pattern: '^(/[^\\0]*)?$',
    'x-expected': 'the absolute path of a named pipe',
    description: 'The pipe that it reads, such as `/run/exabgp/exabgp.in`.',
  }),
  routes: networks({
    description: 'What is announced, such as `192.0.2.0/24`. Empty: the addresses alone.',
  }),
  attributes: text(1_000, {
    default: 'next-hop self',
    pattern: '^[ -~]+$',
    'x-expected': 'printable ASCII text, such as next-hop self community [65000:53]',
    description: 'What follows each route in the command.',
  }),
})

export const anycast = section(
  'Service addresses that several nodes announce by BGP. [More](../operations/anycast.md).',
  {
    driver: choice(['none', 'bird', 'exabgp'], {
      default: 'none',
      description: 'The BGP daemon on this machine that is told. `none`: nothing is announced.',
    }),
    addresses: list(45, {
      default: [],
      'x-expected': 'a list of addresses, such as [192.0.2.53, "2001:db8::53"]',
      description:
        'The addresses that clients ask. The machine has them, as on `lo`; the node asks itself ' +
        'at each of them, and announces as long as it is answered.',
    }),
    bird,
    exabgp,
    interval: duration({
      default: '1s',
      minimumMs: 100,
      maximumMs: 60_000,
      description: 'From one look at itself to the next; also the wait for an answer, up to 1s.',
    }),
    rise: integer(1, 100, {
      default: 3,
      description: 'So many looks with answers in a row, before the addresses are announced.',
    }),
    fall: integer(1, 100, {
      default: 3,
      description: 'So many looks without an answer in a row, before they are withdrawn.',
    }),
    holdDown: duration({
      default: '10s',
      minimumMs: 0,
      maximumMs: 3_600_000,
      description:
        'From a withdrawal to the next announcement, at least. It doubles while the node flaps, ' +
        'up to 32 times.',
    }),
    maxBundleAge: duration({
      default: '0',
      minimumMs: 0,
      maximumMs: 365 * 86_400_000,
      description:
        'Withdraws when the channel record that serves was issued longer ago, 13h or more. 0: of ' +
        'any age. A control node issues one every 12 hours: where none is there for so long, all ' +
        'nodes withdraw.',
    }),
    drain: duration({
      default: '5s',
      minimumMs: 0,
      maximumMs: 60_000,
      description:
        'From the withdrawal to the end of a node that stops; it answers meanwhile. As long as ' +
        'routers need to send queries elsewhere.',
    }),
  },
)
export type AnycastSection = Static<typeof anycast>

/** Records are renewed when half of their day is over. */
const leastAgeMs = 13 * 3_600_000

/** @returns a sentence for each fault of what is written there */
export function faultsOfAnycast(written: AnycastSection): string[] {
  const { driver, addresses, exabgp: pipes, maxBundleAgeMs } = written
  const faults = addresses
    .filter((address) => isIP(address) === 0)
    .map((address) => `anycast.addresses holds "${address}", write IPv4 or IPv6 addresses`)
  if (driver === 'none') return faults
  if (maxBundleAgeMs > 0 && maxBundleAgeMs < leastAgeMs) {
    faults.push(
      'anycast.maxBundleAge is less than 13h: records are issued every 12 hours, and all nodes ' +
        'would withdraw between two; write 13h or more, or 0',
    )
  }
  if (addresses.length === 0) {
    faults.push('anycast.addresses is missing; write the addresses that clients ask')
  }
  if (driver === 'exabgp' && pipes.pipe === '') {
    faults.push('anycast.exabgp.pipe is missing; write it, or take anycast.driver away')
  }
  return faults
}
