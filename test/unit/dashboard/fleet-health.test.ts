// Tests the dashboard's summary of the other nodes of a fleet.
import { expect, test } from 'vitest'
import { fleetHealthOf } from '#dashboard/health/fleet-health.ts'
import type { FleetNode } from '#dashboard/health/fleet-health.ts'

const nodeOf = (name: string, more: Partial<FleetNode> = {}): FleetNode => ({
  ...{ name, isSelf: false, isMissing: false, isKnown: true, drift: [] },
  health: { status: 'ok', reasons: [] },
  ...more,
})
const isStatus = (status: string, ...reasons: string[]): Partial<FleetNode> => ({
  health: { status, reasons },
})
const self = nodeOf('here', { isSelf: true, ...isStatus('degraded', 'redis-away') })
const well = 'They answer, and their parts are sound.'
const silent = { isMissing: true }

test.each([
  ['a node alone', [self], null],
  ['nodes that are not listed', [self, nodeOf('a', { isKnown: false })], null],
  ['all well', [self, nodeOf('a'), nodeOf('b')], ['2 of 2 well', well]],
  [
    'one degraded',
    [self, nodeOf('a', isStatus('degraded', 'bundle-old', 'clock-off')), nodeOf('b')],
    ['1 of 2 well', 'a is degraded (bundle-old, clock-off)'],
  ],
  ['one without a bundle', [nodeOf('a', isStatus('starting'))], ['0 of 1 well', 'a is starting']],
  ['one behind', [nodeOf('a', { drift: ['behind'] })], ['0 of 1 well', 'a differs (behind)']],
  [
    'one silent, whatever it said last',
    [nodeOf('a', { ...silent, ...isStatus('degraded', 'redis-away'), drift: ['missing'] })],
    ['0 of 1 well', 'a is silent'],
  ],
  [
    'more than a tile has room for',
    ['a', 'b', 'c', 'd', 'e'].map((name) => nodeOf(name, silent)),
    ['0 of 5 well', 'a is silent; b is silent; c is silent; 2 more'],
  ],
] as const)('%s', (_, nodes, said) => {
  const found = fleetHealthOf(nodes)
  expect(found && [found.figure, found.hint]).toEqual(said)
})
