import { expect, test } from 'vitest'
import { startParts, stopParts } from '#node/daemon/part.ts'
import type { Deps, Part, Stops } from '#node/daemon/part.ts'
import { err, ok } from '#lib/result.ts'

const lines: string[] = []
const noStops = (): Stops => ({ first: [], last: [] })

/** Starts and stops a moment later, so that an order that is not waited for shows. */
function part(name: string, gives = {}): Part {
  return async () => {
    await Promise.resolve()
    lines.push(`start ${name}`)
    const stop = async (): Promise<void> => {
      await Promise.resolve()
      lines.push(`stop ${name}`)
    }
    return ok({ gives, stop })
  }
}

test('parts start in order and stop in reverse order, each after the other has ended', async () => {
  lines.length = 0
  const stops = noStops()
  const quiet: Part = () => ok({})
  const started = await startParts([part('a'), quiet, part('b'), part('c')], {} as Deps, stops)
  expect(started).toEqual(ok(null))
  await stopParts(stops.first)
  expect(lines).toEqual(['start a', 'start b', 'start c', 'stop c', 'stop b', 'stop a'])
})

test('a part reads what the parts before it gave', async () => {
  let seen: number | null | undefined
  const reader: Part = ({ dnsPort }) => {
    seen = dnsPort
    return ok({})
  }
  await startParts([part('a', { dnsPort: 5353 }), reader], {} as Deps, noStops())
  expect(seen).toBe(5353)
})

test('after a part that failed none starts; those before it can be stopped', async () => {
  lines.length = 0
  const stops = noStops()
  const failing: Part = () => err('the port is taken')
  const started = await startParts([part('a'), failing, part('b')], {} as Deps, stops)
  expect(started).toEqual(err('the port is taken'))
  await stopParts(stops.first)
  expect(lines).toEqual(['start a', 'stop a'])
})

test('what was stopped is not stopped again', async () => {
  lines.length = 0
  const stops = noStops()
  await startParts([part('a')], {} as Deps, stops)
  await Promise.all([stopParts(stops.first), stopParts(stops.first)])
  expect(lines).toEqual(['start a', 'stop a'])
})

test('what answers is kept apart: it is stopped when everything else has been', async () => {
  lines.length = 0
  const stops = noStops()
  const answering: Part = () => ok({ stopLast: () => void lines.push('stop answering') })
  await startParts([part('a'), answering, part('b')], {} as Deps, stops)
  await stopParts(stops.first)
  expect(lines).toEqual(['start a', 'start b', 'stop b', 'stop a'])
  await stopParts(stops.last)
  expect(lines.at(-1)).toBe('stop answering')
})
