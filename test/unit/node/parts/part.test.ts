import { expect, test } from 'vitest'
import { startCalledOff } from '#process/data/called-off.ts'
import { PartChain, stopParts } from '#node/parts/part.ts'
import type { Outcome, Stops } from '#node/parts/part.ts'
import type { Later } from '#node/parts/part-outputs.ts'
import { err, ok } from '#lib/result.ts'

interface Start {
  readonly later: Later
  readonly calledOff?: AbortSignal
}

const lines: string[] = []
const noStops = (): Stops => ({ first: [], last: [] })
const chainOf = (stops: Stops, start: Start = { later: {} }): PartChain<Start> =>
  new PartChain(Promise.resolve(ok(start)), stops)

/** Starts and stops a moment later, so that an order that is not waited for shows. */
const part = (name: string) => async (): Promise<Outcome> => {
  await Promise.resolve()
  lines.push(`start ${name}`)
  const stop = async (): Promise<void> => {
    await Promise.resolve()
    lines.push(`stop ${name}`)
  }
  return ok({ gives: {}, stop })
}

test('parts start in order and stop in reverse order, each after the other has ended', async () => {
  lines.length = 0
  const stops = noStops()
  const quiet = (): Outcome => ok({ gives: {} })
  const chain = chainOf(stops).with(part('a')).with(quiet).with(part('b')).with(part('c'))
  expect((await chain.started).ok).toBe(true)
  await stopParts(stops.first)
  expect(lines).toEqual(['start a', 'start b', 'start c', 'stop c', 'stop b', 'stop a'])
})

test('a part reads what the parts before it gave, and callbacks what later ones give', async () => {
  const start: Start = { later: {} }
  let seen: number | null | undefined
  const giver = (): Outcome<{ readonly dnsPort: number }> => ok({ gives: { dnsPort: 5353 } })
  const reader = ({ dnsPort }: { readonly dnsPort: number }): Outcome => {
    seen = dnsPort
    return ok({ gives: {} })
  }
  const last = (): Outcome<{ readonly api: null }> => ok({ gives: { api: null } })
  expect(start.later.api).toBeUndefined()
  await chainOf(noStops(), start).with(giver).with(reader).with(last).started
  expect(seen).toBe(5353)
  expect(start.later.api).toBeNull()
})

test('a part that needs what no part before it gives does not compile', () => {
  const reader = ({ dnsPort }: { readonly dnsPort: number }): Outcome =>
    ok({ gives: { twice: 2 * dnsPort } })
  // @ts-expect-error: nobody gives a port
  const wrong = (): unknown => chainOf(noStops()).with(reader)
  expect(wrong).toBeTypeOf('function')
})

test('a start that is called off starts no further part, and what has started stops', async () => {
  lines.length = 0
  const [stops, calling] = [noStops(), new AbortController()]
  const callOff = (): Outcome => {
    calling.abort()
    return ok({ gives: {} })
  }
  const chain = chainOf(stops, { later: {}, calledOff: calling.signal })
  const started = await chain.with(part('a')).with(callOff).with(part('b')).started
  expect(started).toEqual(err(startCalledOff))
  await stopParts(stops.first)
  expect(lines).toEqual(['start a', 'stop a'])
})

test('after a part that failed none starts; those before it can be stopped', async () => {
  lines.length = 0
  const stops = noStops()
  const failing = (): Outcome => err('the port is taken')
  const chain = chainOf(stops).with(part('a')).with(failing).with(part('b'))
  expect(await chain.started).toEqual(err('the port is taken'))
  await stopParts(stops.first)
  expect(lines).toEqual(['start a', 'stop a'])
})

test('a stopped part is not stopped again', async () => {
  lines.length = 0
  const stops = noStops()
  await chainOf(stops).with(part('a')).started
  await Promise.all([stopParts(stops.first), stopParts(stops.first)])
  expect(lines).toEqual(['start a', 'stop a'])
})

test('an answering part is stopped after all others', async () => {
  lines.length = 0
  const stops = noStops()
  const answering = (): Outcome =>
    ok({ gives: {}, stopLast: () => void lines.push('stop answering') })
  await chainOf(stops).with(part('a')).with(answering).with(part('b')).started
  await stopParts(stops.first)
  expect(lines).toEqual(['start a', 'start b', 'stop b', 'stop a'])
  await stopParts(stops.last)
  expect(lines.at(-1)).toBe('stop answering')
})
