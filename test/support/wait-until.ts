// Waits for a condition with a deadline, never for a fixed time.
import { setTimeout as delay } from 'node:timers/promises'

interface WaitOptions {
  /** Default 120 000: a second's work takes a minute on a busy machine. */
  readonly timeoutMs?: number
  /** Interval between two checks. Default 10. */
  readonly intervalMs?: number
}

/**
 * Calls `probe` until it gives something other than false, null or undefined.
 *
 * @param what completes the sentence "waited in vain for …"
 * @returns the value of `probe`
 * @throws Error after the deadline; the last error of `probe` is its cause
 */
export async function waitUntil<T>(
  what: string,
  probe: () => T | Promise<T>,
  { timeoutMs = 120_000, intervalMs = 10 }: WaitOptions = {},
): Promise<Exclude<T, false | null | undefined | void>> {
  const deadline = performance.now() + timeoutMs
  let cause: unknown
  for (;;) {
    try {
      const seen = await probe()
      if (seen !== false && seen !== null && seen !== undefined) {
        return seen as Exclude<T, false | null | undefined | void>
      }
      cause = undefined
    } catch (error) {
      cause = error
    }
    if (performance.now() >= deadline) {
      throw new Error(`waited ${timeoutMs} ms in vain for ${what}`, { cause })
    }
    await delay(intervalMs)
  }
}
