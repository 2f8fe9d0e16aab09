// Names of many attempts: who shares an answer, who waits, and for whom nobody has to.
import { expect, test, vi } from 'vitest'
import { healthLimits } from '#health/limits.ts'
import { HostLookup } from '#health/probes/lookup.ts'

/** A system whose answers a test gives, by name, in the order of the questions. */
function handLookup() {
  const asked: string[] = []
  const answers = new Map<string, () => void>()
  const lookup = new HostLookup((name) => {
    asked.push(name)
    return new Promise((resolve) =>
      answers.set(name, () => {
        resolve([`address of ${name}`])
      }),
    )
  })
  return { asked, answer: (name: string) => answers.get(name)?.(), lookup }
}

const settled = () => new Promise(setImmediate)

test('callers that ask for a name during its lookup share the answer', async () => {
  const { asked, answer, lookup } = handLookup()
  const [one, other] = [lookup.ask('a.test'), lookup.ask('a.test')]
  await settled()
  answer('a.test')
  expect(await Promise.all([one.addresses, other.addresses])).toEqual([
    ['address of a.test'],
    ['address of a.test'],
  ])
  expect(asked).toEqual(['a.test'])
  void lookup.ask('a.test')
  await settled()
  expect(asked).toEqual(['a.test', 'a.test'])
})

test('a bounded number is looked up at once, the others in their order', async () => {
  const { asked, answer, lookup } = handLookup()
  const names = ['a', 'b', 'c', 'd']
  const places = healthLimits.webhookLookupsMax - 1
  for (const name of names) void lookup.ask(name)
  await settled()
  expect(asked).toEqual(names.slice(0, places))
  answer('a')
  await settled()
  expect(asked).toEqual(names.slice(0, places + 1))
})

test('a name whose server does not answer in time waits with its like from then on', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const { asked, answer, lookup } = handLookup()
    const slow = ['slow1', 'slow2', 'slow3']
    for (const name of slow) {
      const { addresses } = lookup.ask(name)
      await settled()
      vi.advanceTimersByTime(healthLimits.slowLookupMs + 1)
      answer(name)
      await addresses
    }
    asked.length = 0
    for (const name of slow) void lookup.ask(name)
    void lookup.ask('quick')
    await settled()
    expect(asked).toEqual(['slow1', 'quick'])
  } finally {
    vi.useRealTimers()
  }
})

test('a name that does not exist rejects, and gives its place to the next', async () => {
  const lookup = new HostLookup((name) => Promise.reject(new Error(name)))
  const asked = Array.from({ length: 10 }, (_, i) => lookup.ask(`n${i}`).addresses)
  const results = await Promise.allSettled(asked)
  expect(results.every(({ status }) => status === 'rejected')).toBe(true)
})
