// What the guard of a node does: waits until the node ends, and withdraws its routes if it did so
// without a word.
import type { Readable } from 'node:stream'
import { backoffMs } from '#lib/backoff.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { AnycastDriver } from '#server/anycast/driver.ts'
import { driverOf } from './drivers.ts'
import type { DriverSection } from './drivers.ts'

/** What the node says when its routes are none of the guard's business any more. */
export const release = 'release\n'

/** About ten seconds: systemd waits for a guard before it starts the node again. */
const tries = { firstMs: 50, mostMs: 2_000, count: 10 } as const
/** Settings have at most a hundred addresses. */
const charactersMax = 65_536

export interface Watched {
  readonly withdrawn: boolean
  /** What the daemon said; empty: it was not told. */
  readonly reply: string
}

/**
 * Waits for the end of what comes from the node: the kernel closes it, however the node ends.
 *
 * @param input one line of JSON, then nothing, or `release`
 * @returns Errors: a sentence for the operator
 */
export async function watchNode(input: Readable): Promise<Result<Watched, string>> {
  const text = await all(input)
  const [line = '', word] = text.split('\n')
  if (`${word}\n` === release) return ok({ withdrawn: false, reply: '' })
  let driver: AnycastDriver | null
  try {
    driver = driverOf(JSON.parse(line) as DriverSection)
  } catch {
    return err('it was not told what to withdraw')
  }
  if (driver === null) return ok({ withdrawn: false, reply: '' })
  for (let failures = 1; ; failures++) {
    const done = await driver.withdraw()
    if (done.ok) return ok({ withdrawn: true, reply: done.value.text })
    if (failures === tries.count) return done
    await new Promise((resolve) => setTimeout(resolve, backoffMs(tries, failures)))
  }
}

async function all(input: Readable): Promise<string> {
  let text = ''
  try {
    for await (const chunk of input.setEncoding('utf8')) {
      if (text.length < charactersMax) text += chunk as string
    }
  } catch {
    // A connection that breaks has ended as well.
  }
  return text
}
