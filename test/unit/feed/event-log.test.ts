import { describe, expect, test } from 'vitest'
import { EventLog } from '#feed/event-log.ts'

const event = (text: string) => ({ tenant: 'acme', message: Buffer.from(text) })
const kindsFrom = (log: EventLog, place: number): string[] => {
  const kinds: string[] = []
  for (let at = place; at < log.next; at++) {
    const entry = log.at(at)
    kinds.push(entry.kind === 'event' ? entry.message.toString() : entry.kind)
  }
  return kinds
}

describe('the history of the feed', () => {
  test('goes on after a commit', () => {
    const log = new EventLog()
    log.mark('r1')
    log.append([event('a'), event('b')])
    log.mark('r2')
    expect(kindsFrom(log, log.after('r1') ?? -1)).toEqual(['a', 'b', 'mark'])
    expect(log.after('r2')).toBe(log.next)
    expect(log.after('r0')).toBeUndefined()
  })

  test('is bounded in number; commits that left it are unknown', () => {
    const log = new EventLog({ eventsMax: 10, eventBytesMax: 1_000_000 })
    log.mark('old')
    for (let i = 0; i < 100; i++) log.append([event(`${i}`)])
    log.mark('new')
    expect(log.next - log.first).toBe(10)
    expect(log.after('old')).toBeUndefined()
    expect(log.after('new')).toBe(log.next)
  })

  test('is bounded in octets', () => {
    const log = new EventLog({ eventsMax: 1_000, eventBytesMax: 100 })
    for (let i = 0; i < 100; i++) log.append([event('x'.repeat(30))])
    expect(log.bytes).toBeLessThanOrEqual(100)
    expect(log.next - log.first).toBe(3)
  })

  test.each([
    ['in number', { eventsMax: 10, eventBytesMax: 1_000_000 }, 'x'],
    ['in octets', { eventsMax: 1_000, eventBytesMax: 100 }, 'x'.repeat(10)],
  ])('begins anew with too much at once, %s', (_title, sizes, text) => {
    const log = new EventLog(sizes)
    log.mark('r1')
    log.append(Array.from({ length: 6 }, () => event(text)))
    log.mark('r2')
    expect(kindsFrom(log, log.first)).toEqual(['restart', 'mark'])
    expect([log.after('r1'), log.after('r2')]).toEqual([undefined, log.next])
  })

  test('knows a commit that came again by its last time', () => {
    const log = new EventLog({ eventsMax: 4, eventBytesMax: 1_000 })
    log.mark('r1')
    log.mark('r2')
    log.mark('r1')
    log.append([event('a'), event('b')])
    expect(kindsFrom(log, log.after('r1') ?? -1)).toEqual(['a', 'b'])
  })
})
