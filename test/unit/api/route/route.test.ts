// Tests that a handler gets the ports that its row names, and no others.
import { Type } from '#lib/schema/type.ts'
import { expect, test } from 'vitest'
import { portsFor, route } from '#api/route/route.ts'
import type { RouteContext } from '#api/route/route.ts'
import { success } from '#http/reply.ts'
import { portsOf } from '#test/support/api-ports.ts'

const shown = {
  needs: 'any',
  tag: 'Test',
  summary: 'For how long this node runs',
  responses: { 200: { description: 'Seconds', schema: Type.Number() } },
} as const

test('the ports that are given for a row are those that it names, and no others', () => {
  const row = route('GET /api/v1/uptime', {
    ...shown,
    ports: ['node', 'clock'],
    handle: ({ ports }) => success([ports.node.uptimeSeconds(), Object.keys(ports)]),
  })
  expect(Object.keys(portsFor(row, portsOf({})))).toEqual(['node', 'clock'])
})

test('a handler of another place that wants more than its row names does not compile', () => {
  const handle = ({ ports }: Pick<RouteContext<'clock' | 'node'>, 'ports'>) =>
    success([ports.clock, ports.node.uptimeSeconds()])
  // @ts-expect-error: the row names one of both
  const row = route('GET /api/v1/uptime', { ...shown, ports: ['clock'], handle })
  expect(portsFor(row, portsOf({}))).not.toHaveProperty('node')
})

test('a handler that uses a port which its row does not name does not compile', () => {
  const row = route('GET /api/v1/uptime', {
    ...shown,
    ports: ['clock'],
    // @ts-expect-error: the row does not name this port
    handle: ({ ports }) => success(ports.node),
  })
  expect(portsFor(row, portsOf({}))).not.toHaveProperty('node')
})
