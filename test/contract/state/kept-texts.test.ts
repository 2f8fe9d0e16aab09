import { describe, expect, test } from 'vitest'
import { keptTextLimits } from '#state/ports/kept-texts.ts'
import { ephemeralAdapters, useEphemeral } from '#test/support/ephemeral-adapters.ts'

/** Without Redis there is nobody to share with. */
const adapters = ephemeralAdapters.filter(([name]) => !name.includes('away'))

describe.each(adapters)('what nodes tell each other, in %s', (_name, start) => {
  const store = useEphemeral(start)

  test('is read as it was told last, by its key', async () => {
    const { fleetTargets } = store().ports
    expect(await fleetTargets.read('web/')).toBeNull()
    await fleetTargets.publish('web/', 'one', 60_000)
    await fleetTargets.publish('consul/a b\u0000*', 'other', 60_000)
    await fleetTargets.publish('web/', 'two', 60_000)
    expect(await fleetTargets.read('web/')).toBe('two')
    expect(await fleetTargets.read('consul/a b\u0000*')).toBe('other')
    expect(await fleetTargets.read('web')).toBeNull()
    expect(await store().ports.zoneContacts.read('web/')).toBeNull()
  })

  test('is forgotten when its time is over', async () => {
    const { ports, pass } = store()
    await ports.fleetTargets.publish('web/', 'one', 60_000)
    await pass(60_001)
    expect(await ports.fleetTargets.read('web/')).toBeNull()
  })

  test('may be as long as it may be', async () => {
    const { fleetTargets } = store().ports
    const text = 'x'.repeat(keptTextLimits.textMax)
    await fleetTargets.publish('web/', text, 60_000)
    expect((await fleetTargets.read('web/'))?.length).toBe(text.length)
  })
})
