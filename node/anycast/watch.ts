// Runs the guard of a node: waits until the node ends, and withdraws its routes unless it has
// released them.
import type { Readable } from 'node:stream'
import { backoffMs } from '#lib/backoff.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { AnycastDriver } from '#server/anycast/driver.ts'
import { driverOf } from './drivers.ts'
import type { DriverSection } from './drivers.ts'

/** The line by which the node releases its routes: the guard leaves them alone from then on. */
export const release = 'release\n'

/** About ten seconds: systemd waits for the guard before it starts the node again. */
const tries = { firstMs: 50, mostMs: 2_000, count: 10 } as const
/** Limit of the input: settings have at most a hundred addresses. */
const charactersMax = 65_536

interface Watched {
  readonly withdrawn: boolean
  /** The reply of the daemon; empty: it was not told. */
  readonly reply: string
}

/**
 * Waits for the end of the node's output: the kernel closes it, however the node ends.
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
