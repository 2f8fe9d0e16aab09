import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createFileHealthVerdicts } from '#state/file/health-verdicts.ts'
import { createMemoryHealthVerdicts } from '#test/support/memory-health-verdicts.ts'
import type { HealthVerdicts, StoredVerdict } from '#state/ports/health-verdicts.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const m1: StoredVerdict = {
  memberUid: 'm1',
  ipAddress: '192.0.2.1',
  healthy: false,
  warming: false,
  atMs: 1_000,
}
const m2: StoredVerdict = {
  memberUid: 'm2',
  ipAddress: '2001:db8::1',
  healthy: true,
  warming: true,
  atMs: 2_000,
}

async function all(verdicts: HealthVerdicts): Promise<StoredVerdict[]> {
  const stored = await verdicts.load()
  return [...stored].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

function keyOf({ memberUid, ipAddress }: StoredVerdict): string {
  return `${memberUid} ${ipAddress}`
}

function createInFile(): HealthVerdicts {
  const directory = makeTempDir('verdicts')
  onTestFinished(() => removeTempDir(directory))
  const silent = (): void => undefined
  const log = { info: silent, warn: silent, error: silent }
  return createFileHealthVerdicts(join(directory, 'health', 'verdicts.jsonl'), log)
}

/** Every adapter of the port; each starts empty. */
const adapters: readonly [string, () => HealthVerdicts][] = [
  ['memory', createMemoryHealthVerdicts],
  ['a file', createInFile],
]

describe.each(adapters)('health verdicts in %s', (_name, create) => {
  test('are none at first', async () => {
    expect(await create().load()).toEqual([])
  })

  test('are loaded as they were saved, without what else the object held', async () => {
    const verdicts = create()
    await verdicts.save([m1, { ...m2, colour: 'red' } as StoredVerdict])
    expect(await all(verdicts)).toEqual([m1, m2])
  })

  test('are replaced by newer ones of the same member at the same address', async () => {
    const verdicts = create()
    const back = { ...m1, healthy: true, atMs: 3_000 }
    const moved = { ...m1, ipAddress: '192.0.2.9' }
    await verdicts.save([m1])
    await verdicts.save([back, moved])
    expect(await all(verdicts)).toEqual([back, moved])
  })

  test('are forgotten by owner, and forgetting a stranger does nothing', async () => {
    const verdicts = create()
    await verdicts.save([m1, m2])
    await verdicts.forget([m1, { memberUid: 'm2', ipAddress: '192.0.2.1' }])
    expect(await all(verdicts)).toEqual([m2])
  })

  test('take an empty list', async () => {
    const verdicts = create()
    await verdicts.save([])
    await verdicts.forget([])
    expect(await verdicts.load()).toEqual([])
  })
})
