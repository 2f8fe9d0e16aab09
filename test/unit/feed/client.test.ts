import { describe, expect, test } from 'vitest'
import { FeedClient } from '#feed/client.ts'
import type { FeedSocket } from '#http/feed-socket.ts'
import { EventLog } from '#feed/event-log.ts'
import { feedLimits } from '#feed/limits.ts'
import { messageOf, revisionMessage } from '#feed/messages.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { inShort } from '#test/support/feed-world.ts'
import type { Heard } from '#test/support/feed-world.ts'

/** A connection whose other side takes what the test lets it take. */
class FakeSocket implements FeedSocket {
  readonly taken: string[] = []
  readonly ended: (number | string)[] = []
  pings = 0
  isTaking = true
  bufferedMax = 0
  #waiting: { message: Buffer; sent: () => void }[] = []
  #closed: () => void = () => undefined
  #heard: () => void = () => undefined

  readonly bufferedBytes = () => this.#waiting.reduce((sum, { message }) => sum + message.length, 0)
  readonly send = (message: Buffer, sent: () => void) => {
    this.#waiting.push({ message, sent })
    if (this.isTaking) this.take(1)
    this.bufferedMax = Math.max(this.bufferedMax, this.bufferedBytes())
  }
  readonly ping = () => void this.pings++
  readonly close = (code: number) => void this.ended.push(code)
  readonly terminate = () => void this.ended.push('cut')
  readonly onClosed = (handler: () => void) => void (this.#closed = handler)
  readonly onReceived = (handler: () => void) => void (this.#heard = handler)

  take(count: number): void {
    for (const { message, sent } of this.#waiting.splice(0, count)) {
      this.taken.push(inShort(JSON.parse(message.toString()) as Heard))
      sent()
    }
  }

  leave(): void {
    this.#closed()
  }

  say(): void {
    this.#heard()
  }
}

interface Options {
  readonly revision?: string
  readonly tenant?: string | null
  readonly snapshotMembers?: number
  /** How many members have health to tell of. */
  readonly known?: number
  readonly isTaking?: boolean
  /** After the commit 1, before the client comes. */
  readonly happened?: (log: EventLog) => void
  readonly sizes?: { readonly eventsMax: number; readonly eventBytesMax: number }
}

/** @returns a client that has just come to a history with the commit 1 */
function connect({
  revision,
  tenant = 'acme',
  snapshotMembers = 1,
  known = 0,
  isTaking = true,
  happened = () => undefined,
  sizes = feedLimits,
}: Options = {}) {
  const time = new FakeTime(1_700_000_000_000)
  const log = new EventLog(sizes)
  const socket = new FakeSocket()
  const turns: (() => void)[] = []
  socket.isTaking = isTaking
  let at = '1'
  log.mark(at)
  happened(log)
  const snapshot = () => {
    const members = Array.from({ length: snapshotMembers }, (_, i) =>
      messageOf('member_update', { action: 'snapshot', member: { ipAddress: `m${i}` } }),
    )
    const messages = [messageOf('snapshot', { revision: at }), ...members, revisionMessage(at)]
    return { messages: messages.values(), revision: at }
  }
  const live = () =>
    Array.from({ length: known }, (_, i) =>
      messageOf('health_update', { ipAddress: `m${i}`, healthy: false }),
    ).values()
  const client = new FeedClient({
    ...{ socket, log, tenant, snapshot, live, revision: revision ?? null },
    clock: time.clock,
    after: time.after,
    defer: (fn) => turns.push(fn),
  })
  /** Lets every turn run that is waiting, and those that they ask for. */
  const run = (): void => {
    for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) turn()
  }
  const tell = (name: string, of = 'acme'): void => {
    log.append([{ tenant: of, message: messageOf('pool_update', { pool: { name } }) }])
    client.wake()
  }
  const mark = (name: string): void => {
    at = name
    log.mark(name)
    client.wake()
  }
  /** Ticks of a feed for so long. */
  const pass = (durationMs: number): void => {
    for (let ms = 0; ms < durationMs; ms += feedLimits.tickMs) {
      time.pass(feedLimits.tickMs)
      client.tick()
      run()
    }
  }
  run()
  return { time, log, socket, client, run, tell, mark, pass, turns }
}

describe('a client of the feed', () => {
  test('begins with a snapshot and the commit it is of', () => {
    expect(connect().socket.taken).toEqual([
      'snapshot 1',
      'member_update snapshot m0',
      'revision 1',
    ])
  })

  test('that knows where it was gets what came after', () => {
    const { socket, tell, mark, run } = connect({ revision: '1' })
    tell('web')
    mark('2')
    run()
    expect(socket.taken).toEqual(['revision 1', 'pool_update web', 'revision 2'])
  })

  test('that comes back hears how everybody is once, after all that it missed', () => {
    const { socket, tell, mark, run } = connect({
      revision: '1',
      known: 2,
      happened: (log) => {
        log.append([
          { tenant: 'acme', message: messageOf('pool_update', { pool: { name: 'web' } }) },
        ])
        log.mark('2')
      },
    })
    tell('later')
    mark('3')
    run()
    expect(socket.taken).toEqual([
      'revision 1',
      'pool_update web',
      'revision 2',
      'health_update m0 failing',
      'health_update m1 failing',
      'pool_update later',
      'revision 3',
    ])
  })

  test('that comes back and has to begin again hears it in the snapshot only', () => {
    const { socket } = connect({ revision: '1', known: 1, happened: (log) => log.restart() })
    expect(socket.taken).not.toContain('health_update m0 failing')
  })

  test('that was away too long begins with a snapshot', () => {
    expect(connect({ revision: '0' }).socket.taken[0]).toBe('snapshot 1')
  })

  test('hears of its tenant only, and nothing of commits of others', () => {
    const { socket, tell, mark, run } = connect({ revision: '1' })
    tell('theirs', 'zenith')
    mark('2')
    tell('ours')
    mark('3')
    run()
    expect(socket.taken).toEqual(['revision 1', 'pool_update ours', 'revision 3'])
  })

  test('gets the events of all tenants if it is for all', () => {
    const { socket, tell, run } = connect({ revision: '1', tenant: null })
    tell('theirs', 'zenith')
    tell('ours')
    run()
    expect(socket.taken.slice(1)).toEqual(['pool_update theirs', 'pool_update ours'])
  })

  test('is told now and then up to which commit nothing concerned it', () => {
    const { socket, client, mark, run } = connect({ revision: '1' })
    mark('2')
    run()
    client.offerStats(messageOf('stats_update', {}))
    client.offerStats(messageOf('stats_update', {}))
    expect(socket.taken).toEqual(['revision 1', 'stats_update', 'revision 2', 'stats_update'])
  })

  test('hears that the node is there, also where it sees no numbers', () => {
    const { socket, client, run } = connect({ revision: '1' })
    run()
    client.offerStats(null)
    client.offerStats(null)
    expect(socket.taken).toEqual(['revision 1', 'revision 1', 'revision 1'])
    expect(client.hasStats).toBe(false)
  })

  test('begins again when too much happened at once', () => {
    const sizes = { eventsMax: 10, eventBytesMax: 1_000_000 }
    const { socket, log, client, mark, run } = connect({ revision: '1', sizes })
    const message = messageOf('pool_update', {})
    log.append(Array.from({ length: 9 }, () => ({ tenant: 'acme', message })))
    mark('2')
    run()
    expect(socket.taken).toEqual([
      'revision 1',
      'snapshot 2',
      'member_update snapshot m0',
      'revision 2',
    ])
    expect(client.isOpen).toBe(true)
  })
})

describe('a client that is slow', () => {
  test('has a bounded amount waiting for it, whatever happens', () => {
    const { socket, tell, run } = connect({ revision: '1' })
    socket.isTaking = false
    for (let i = 0; i < 10_000; i++) tell('x'.repeat(100))
    run()
    expect(socket.bufferedMax).toBeLessThan(feedLimits.bufferedBytesMax + 1_000)
  })

  test("has no more than that waiting when everybody's health is told", () => {
    const { socket, run, pass } = connect({ revision: '1', known: 3_000, isTaking: false })
    expect(socket.bufferedMax).toBeLessThan(feedLimits.bufferedBytesMax + 1_000)
    while (socket.bufferedBytes() > 0) {
      socket.take(100)
      run()
    }
    expect(socket.taken).toHaveLength(3_001)
    pass(feedLimits.stallMs)
    expect(socket.ended).toEqual([])
  })

  test('gets everything in order when it catches up', () => {
    const { socket, tell, run } = connect({ revision: '1' })
    socket.isTaking = false
    const names = Array.from({ length: 3_000 }, (_, i) => `pool-${i}`)
    for (const name of names) tell(name)
    run()
    while (socket.bufferedBytes() > 0) {
      socket.take(100)
      run()
    }
    expect(socket.taken.slice(1)).toEqual(names.map((name) => `pool_update ${name}`))
  })

  test('is dropped once the history has left it behind', () => {
    const sizes = { eventsMax: 100, eventBytesMax: 1_000_000 }
    const { socket, client, tell, run } = connect({ revision: '1', sizes })
    socket.isTaking = false
    for (let i = 0; i < 3_000; i++) {
      tell('x'.repeat(1_000))
      run()
    }
    expect(client.isOpen).toBe(true)
    socket.take(1_000)
    run()
    expect(socket.ended).toEqual([4408])
  })

  test('is dropped when it takes nothing for a while, with a close frame and then without', () => {
    const { socket, tell, pass } = connect({ revision: '1' })
    socket.isTaking = false
    tell('web')
    pass(feedLimits.stallMs)
    expect(socket.ended).toEqual([])
    pass(feedLimits.tickMs)
    expect(socket.ended).toEqual([4408])
    pass(feedLimits.closeGraceMs)
    expect(socket.ended).toEqual([4408, 'cut'])
  })

  test('is dropped when its snapshot takes too long', () => {
    const { socket, pass } = connect({ snapshotMembers: 5_000, isTaking: false })
    // The client reads all the time, but too slowly.
    for (let ms = 0; ms < feedLimits.snapshotMsMax; ms += feedLimits.tickMs) {
      expect(socket.ended).toEqual([])
      socket.take(1)
      pass(feedLimits.tickMs)
    }
    expect(socket.ended).toEqual([4408])
  })

  test('lets others have a turn', () => {
    const { socket, tell, turns } = connect({ revision: '1' })
    for (let i = 0; i < 1_000; i++) tell('web')
    turns.shift()?.()
    expect(socket.taken.length).toBeLessThanOrEqual(feedLimits.messagesPerTurnMax + 1)
    expect(turns).toHaveLength(1)
  })

  test('gets no statistics', () => {
    const { socket, client, tell, run } = connect({ revision: '1' })
    socket.isTaking = false
    tell('web')
    run()
    client.offerStats(messageOf('stats_update', {}))
    socket.take(10)
    expect([socket.taken, client.hasStats]).toEqual([['revision 1', 'pool_update web'], false])
  })
})

describe('a client that is silent', () => {
  test('is asked, and stays when it answers', () => {
    const { socket, pass } = connect()
    for (let i = 0; i < 5; i++) {
      pass(feedLimits.pingMs)
      socket.say()
    }
    expect([socket.pings, socket.ended]).toEqual([5, []])
  })

  test('is cut off when it does not answer', () => {
    const { socket, pass } = connect()
    pass(2 * feedLimits.pingMs)
    expect([socket.pings, socket.ended]).toEqual([1, ['cut']])
  })

  test('costs no timer once it is gone', () => {
    const { socket, client, time } = connect()
    client.close(1001, '')
    expect(time.waiting).toBe(1)
    socket.leave()
    expect(time.waiting).toBe(0)
  })
})

test('a client that talks too much is dropped', () => {
  const { socket } = connect()
  for (let i = 0; i < 2 * feedLimits.incomingPerPingMax; i++) socket.say()
  expect(socket.ended).toEqual([1008])
})
