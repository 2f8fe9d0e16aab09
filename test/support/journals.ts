// A journal in a data directory, under a clock moved by hand.
import { join } from 'node:path'
import { Journal } from '#journal/journal.ts'
import type { JournalParts } from '#journal/journal.ts'
import type { FakeTime } from './fake-time.ts'

const silent = (): void => undefined

export function journalAt(
  dataDir: string,
  { clock, after }: FakeTime,
  node = 'fra1',
  more: Partial<JournalParts> = {},
): Journal {
  return new Journal({
    ...{ directory: join(dataDir, 'journal'), bytesMax: 1e8, ageMaxMs: 1e10 },
    ...{ node, version: '0', clock, after },
    log: { info: silent, warn: silent, error: silent },
    ...more,
  })
}
