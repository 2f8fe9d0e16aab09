// Texts that nodes tell each other, in the memory of one process.
import type { Clock } from '#lib/clock.ts'
import type { KeptTexts } from '../ports/kept-texts.ts'
import { ExpiringMap } from './expiring-map.ts'

const entriesMax = 256

export function createMemoryKeptTexts(clock: Clock): KeptTexts {
  const texts = new ExpiringMap<string>(clock, entriesMax)
  return {
    publish: async (key, text, keptMs) => texts.set(key, text, keptMs),
    read: async (key) => texts.get(key)?.value ?? null,
  }
}
