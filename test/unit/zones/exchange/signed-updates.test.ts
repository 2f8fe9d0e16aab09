// Updates that come again while their signature is valid.
import { expect, test } from 'vitest'
import { withoutReason } from '#dns/update/update-outcome.ts'
import { SignedUpdates } from '#zones/exchange/signed-updates.ts'

const done = Promise.resolve(withoutReason(0))
const update = (timeSeconds: number, mac: number, keyId = 'k') => ({
  ...{ keyId, timeSeconds, mac: Uint8Array.of(mac >> 16, mac >> 8, mac) },
})

test('an update is known by its key, its time and its MAC, as long as it is valid', () => {
  const updates = new SignedUpdates()
  updates.remember(update(1_000, 1), done, 1_000)
  expect(updates.find(update(1_000, 1))).toBe(done)
  for (const other of [update(1_001, 1), update(1_000, 2), update(1_000, 1, 'other')]) {
    expect(updates.find(other)).toBe('new')
  }
  // As late as a message signed then is taken.
  updates.remember(update(1_300, 2), done, 1_300)
  expect(updates.find(update(1_000, 1))).toBe(done)
  updates.remember(update(1_301, 3), done, 1_361)
  expect(updates.count).toBe(2)
})

test('a key that has too many forgets those signed first, and what is as old is refused', () => {
  const updates = new SignedUpdates({ perKeyMax: 100, max: 1_000 })
  for (let i = 0; i < 150; i++) updates.remember(update(1_000 + i, i), done, 1_000 + i)
  expect(updates.count).toBe(100)
  expect(updates.find(update(1_049, 49))).toBe('too-old')
  expect(updates.find(update(1_020, 999))).toBe('too-old')
  expect(updates.find(update(1_050, 50))).toBe(done)
  expect(updates.find(update(1_050, 999))).toBe('new')
  // Another key has its own.
  expect(updates.find(update(1_020, 999, 'other'))).toBe('new')
})

test('an update forgotten as too old is refused after the clock was set back', () => {
  const updates = new SignedUpdates()
  updates.remember(update(1_000, 1), done, 1_000)
  updates.remember(update(1_001, 2, 'gone'), done, 1_001)
  // The clock goes forward, far beyond what is valid; both are swept, and then the keys.
  updates.remember(update(4_600, 3), done, 4_600)
  updates.remember(update(8_200, 4, 'third'), done, 8_200)
  expect(updates.find(update(1_000, 1))).toBe('too-old')
  expect(updates.find(update(1_001, 2, 'gone'))).toBe('too-old')
  expect(updates.find(update(4_601, 5, 'gone'))).toBe('new')
  expect(updates.find(update(8_200, 4, 'third'))).toBe(done)
})

test('all keys together have a limit; the one that was used longest ago forgets first', () => {
  const updates = new SignedUpdates({ perKeyMax: 100, max: 150 })
  for (const keyId of ['a', 'b']) {
    for (let i = 0; i < 100; i++) updates.remember(update(1_000 + i, i, keyId), done, 1_100)
  }
  expect(updates.count).toBe(150)
  expect(updates.find(update(1_010, 10, 'a'))).toBe('too-old')
  expect(updates.find(update(1_010, 10, 'b'))).toBe(done)
})
